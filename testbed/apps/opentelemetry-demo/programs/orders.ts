/** The way of an order: checkout, payment, e-mail, the topic of orders, and those who read it. */
import type { Program } from "../../../traffic/behaviour.js";
import { grpc, http, MiB } from "./calls.js";

export const orders: Record<string, Program> = {
  checkout: {
    language: "go",
    image: "checkout",
    entrypoint: ["./checkout", "/usr/src/app/checkout", "/checkout", "checkout"],
    listens: [{ env: "CHECKOUT_PORT", protocol: "grpc" }],
    mustHave: [
      "CHECKOUT_PORT",
      "SHIPPING_ADDR",
      "PRODUCT_CATALOG_ADDR",
      "CART_ADDR",
      "CURRENCY_ADDR",
      "EMAIL_ADDR",
      "PAYMENT_ADDR",
    ],
    dependencies: [
      {
        // The program goes on without a producer, and falls over it with the first order.
        address: { env: "KAFKA_ADDR", port: 9092 },
        protocol: "kafka",
        onFailure: "degrade",
        afterMs: 0,
        log: [
          '{"time":"{time}","level":"INFO","msg":"Creating Kafka producer","broker":"{KAFKA_ADDR}"}',
          '{"time":"{time}","level":"ERROR","msg":"failed to create Kafka producer: kafka: client has run out of available brokers to talk to: {error}"}',
        ],
      },
    ],
    operations: {
      "CheckoutService/PlaceOrder": {
        ms: 2,
        span: "oteldemo.CheckoutService/PlaceOrder",
        counter: "app_orders_placed_total",
        steps: [
          {
            internal: "prepareOrderItemsAndShippingQuoteFromCart",
            ms: 0.3,
            steps: [
              grpc("cart", "CartService/GetCart"),
              grpc("product-catalog", "ProductCatalogService/GetProduct", "oteldemo.", { times: 2 }),
              grpc("currency", "CurrencyService/Convert", "oteldemo.", { times: 2 }),
              http("shipping", "POST /get-quote", { span: "HTTP POST" }),
            ],
          },
          grpc("payment", "PaymentService/Charge", "oteldemo.", {
            redirect: { flag: "paymentUnreachable", address: "badAddress:50051" },
          }),
          http("shipping", "POST /ship-order", { span: "HTTP POST" }),
          grpc("cart", "CartService/EmptyCart", "oteldemo.", { optional: true }),
          http("email", "POST /send_order_confirmation", { span: "HTTP POST", optional: true }),
          {
            publish: { env: "KAFKA_TOPIC" },
            address: { env: "KAFKA_ADDR", port: 9092 },
            span: "orders publish",
            optional: true,
            timeoutMs: 400,
            extra: { flag: "kafkaQueueProblems" },
            withoutProducer: {
              code: 2,
              log: [
                "panic: runtime error: invalid memory address or nil pointer dereference",
                "[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0xb4f6c1]",
                "",
                "goroutine 84 [running]:",
                "main.(*checkout).sendToPostProcessor(0xc0001aa000, {0x1187d78, 0xc00061a1b0}, 0xc000502100)",
                "\t/usr/src/app/main.go:612 +0x2c1",
                "main.(*checkout).PlaceOrder(0xc0001aa000, {0x1187d78, 0xc00061a090}, 0xc0004b6180)",
                "\t/usr/src/app/main.go:391 +0xb6f",
              ],
            },
          },
        ],
        failure: "failed to place the order: {error}",
        log: '{"time":"{time}","level":"INFO","msg":"order placed","app.order.id":"{order}","app.order.amount":{amount},"app.user.currency":"{currency}","trace_id":"{trace}","span_id":"{spanId}"}',
        errorLog: '{"time":"{time}","level":"ERROR","msg":"{error}","trace_id":"{trace}","span_id":"{spanId}"}',
      },
    },
    banner: ['{"time":"{time}","level":"INFO","msg":"starting to listen on tcp: \\"[::]:{port}\\""}'],
    idle: { cpuCores: 0.002, memoryBytes: 12 * MiB },
    needsBytes: 8 * MiB,
    cpuMs: 1.2,
  },

  payment: {
    language: "node",
    image: "payment",
    entrypoint: ["node", "/usr/local/bin/node", "npm"],
    shell: true,
    listens: [{ env: "PAYMENT_PORT", protocol: "grpc" }],
    mustHave: ["PAYMENT_PORT"],
    operations: {
      "PaymentService/Charge": {
        ms: 0.8,
        span: "grpc.oteldemo.PaymentService/Charge",
        counter: "app_payment_transactions_total",
        steps: [{ internal: "charge", ms: 0.9 }],
        effects: [
          {
            flag: "paymentFailure",
            effect: "fail",
            code: "UNKNOWN",
            message: "Payment request failed. Invalid token. app.loyalty.level=gold",
          },
        ],
        log: '{"level":"info","time":"{time}","service.name":"payment","transactionId":"{transaction}","cardType":"visa","lastFourDigits":"0454","amount":{"units":"{amount}","currencyCode":"{currency}"},"trace_id":"{trace}","span_id":"{spanId}","msg":"Transaction complete."}',
        errorLog:
          '{"level":"warn","time":"{time}","service.name":"payment","err":{"type":"Error","message":"{error}"},"trace_id":"{trace}","span_id":"{spanId}","msg":"{error}"}',
      },
    },
    banner: [
      '{"level":"info","time":"{time}","service.name":"payment","msg":"payment gRPC server started on 0.0.0.0:{port}"}',
    ],
    idle: { cpuCores: 0.004, memoryBytes: 78 * MiB },
    needsBytes: 60 * MiB,
    cpuMs: 1.5,
  },

  email: {
    language: "ruby",
    image: "email",
    entrypoint: ["bundle", "ruby"],
    shell: true,
    listens: [{ env: "EMAIL_PORT", port: 8080, protocol: "http" }],
    operations: {
      "POST /send_order_confirmation": {
        ms: 1.5,
        span: "POST /send_order_confirmation",
        counter: "app_confirmation_counter_total",
        steps: [
          { internal: "sinatra.render_template", ms: 0.6 },
          { internal: "send_email", ms: 0.5 },
        ],
        log: '10.244.2.9 - - [{time}] "POST /send_order_confirmation HTTP/1.1" 200 - 0.0{size}',
        errorLog: "{time} ERROR -- : {error}",
      },
    },
    banner: ["== Sinatra (v4.2.1) has taken the stage on {port} for production with backup from Puma"],
    idle: { cpuCores: 0.002, memoryBytes: 52 * MiB },
    needsBytes: 40 * MiB,
    cpuMs: 2.5,
    burdens: [{ flag: "emailMemoryLeak", effect: "slow", leakBytesPerSecond: 0.002 * MiB }],
  },

  kafka: {
    language: "java",
    image: "kafka",
    entrypoint: ["/etc/kafka/docker/run", "/opt/kafka/bin/kafka-server-start.sh"],
    shell: true,
    role: "broker",
    listens: [{ env: "KAFKA_LISTENERS", port: 9092, protocol: "kafka" }],
    mustHave: ["KAFKA_ADVERTISED_LISTENERS"],
    operations: { connect: { ms: 1 } },
    banner: [
      "[{time}] INFO [SocketServer listenerType=BROKER, nodeId=1] Created data-plane acceptor and processors for endpoint : ListenerName(PLAINTEXT) (kafka.network.SocketServer)",
      "[{time}] INFO [KafkaRaftServer nodeId=1] Kafka Server started (kafka.server.KafkaRaftServer)",
    ],
    idle: { cpuCores: 0.03, memoryBytes: 560 * MiB },
    needsBytes: 430 * MiB,
    cpuMs: 0.4,
  },

  accounting: {
    language: "dotnet",
    image: "accounting",
    entrypoint: ["./instrument.sh", "dotnet", "./Accounting"],
    shell: true,
    mustHave: ["KAFKA_ADDR"],
    consumes: [
      {
        address: { env: "KAFKA_ADDR", port: 9092 },
        topic: { env: "KAFKA_TOPIC" },
        group: "accounting",
        operation: "order-consumed",
        perSecond: 400,
      },
    ],
    operations: {
      "order-consumed": {
        ms: 1.5,
        span: "order-consumed",
        kind: "consumer",
        steps: [
          {
            to: "astronomy-db",
            address: { env: "DB_CONNECTION_STRING", port: 5432 },
            protocol: "postgres",
            operation: "query",
            span: "postgresql",
          },
        ],
        attributes: { "messaging.system": "kafka", "messaging.operation.name": "process" },
        duplicate: {
          message:
            'Npgsql.PostgresException (0x80004005): 23505: duplicate key value violates unique constraint "order_pkey"',
        },
        log: 'info: Accounting.Consumer[0]\n      Order details: {"orderId":"{order}","shippingTrackingId":"{tracking}"}.',
        errorLog: "fail: Accounting.Consumer[0]\n      Order parsing failed: {error}",
      },
    },
    banner: ["info: Accounting.Consumer[0]\n      Connecting to Kafka: {KAFKA_ADDR}"],
    idle: { cpuCores: 0.004, memoryBytes: 84 * MiB },
    needsBytes: 64 * MiB,
    cpuMs: 2,
  },

  "fraud-detection": {
    language: "kotlin",
    image: "fraud-detection",
    entrypoint: ["java", "./build/install/opentelemetry-demo-fraud-detection/bin/fraud-detection"],
    shell: true,
    mustHave: ["KAFKA_ADDR"],
    dependencies: [
      {
        address: { env: "KAFKA_ADDR", port: 9092 },
        protocol: "kafka",
        nameOnly: true,
        onFailure: "exit",
        afterMs: 2500,
        code: 1,
        log: [
          'Exception in thread "main" org.apache.kafka.common.KafkaException: Failed to construct kafka consumer',
          "Caused by: org.apache.kafka.common.config.ConfigException: No resolvable bootstrap urls given in bootstrap.servers",
        ],
      },
    ],
    consumes: [
      {
        address: { env: "KAFKA_ADDR", port: 9092 },
        topic: { env: "KAFKA_TOPIC" },
        group: "fraud-detection",
        operation: "orders process",
        perSecond: 200,
        slowdown: { flag: "kafkaQueueProblems", perSecond: 1 },
      },
    ],
    operations: {
      "orders process": {
        ms: 1,
        span: "orders process",
        kind: "consumer",
        attributes: { "messaging.system": "kafka", "messaging.operation": "process" },
        log: "{time} - frauddetection - Consumed record with orderId: {order} trace_id={trace} span_id={spanId}",
      },
    },
    banner: ["{time} - frauddetection - Subscribed to topic(s): orders, bootstrap servers {KAFKA_ADDR}"],
    idle: { cpuCores: 0.006, memoryBytes: 205 * MiB },
    needsBytes: 150 * MiB,
    cpuMs: 1.5,
  },
};
