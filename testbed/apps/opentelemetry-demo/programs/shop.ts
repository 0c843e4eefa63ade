/** What stands behind the shop's pages: cart, catalogue, recommendations, ads, currencies, shipping, quotes. */
import type { Call, Program } from "../../../traffic/behaviour.js";
import { grpc, http, MiB } from "./calls.js";

function redis(command: string, options: Partial<Call> = {}): Call {
  return {
    to: "valkey-cart",
    address: { env: "VALKEY_ADDR", port: 6379 },
    protocol: "redis",
    operation: "command",
    span: command,
    timeoutMs: 5000,
    ...options,
  };
}

function sql(statement: string): Call {
  return {
    to: "astronomy-db",
    address: { env: "DB_CONNECTION_STRING", port: 5432 },
    protocol: "postgres",
    operation: "query",
    span: statement,
    timeoutMs: 5000,
  };
}

const cartFailed = 'Status(StatusCode="FailedPrecondition", Detail="Can\'t access cart storage. {error}")';

export const shop: Record<string, Program> = {
  cart: {
    language: "dotnet",
    image: "cart",
    entrypoint: ["./cart", "/usr/src/app/cart", "cart"],
    listens: [{ env: "ASPNETCORE_URLS", port: 8080, protocol: "grpc" }],
    mustHave: ["VALKEY_ADDR"],
    dependencies: [
      {
        address: { env: "VALKEY_ADDR", port: 6379 },
        protocol: "redis",
        onFailure: "exit",
        afterMs: 30_000,
        code: 1,
        log: [
          "fail: cart.cartstore.ValkeyCartStore[0]",
          "      Wasn't able to connect to redis: {error}",
          "Unhandled exception. System.ApplicationException: Wasn't able to connect to redis",
        ],
      },
    ],
    operations: {
      "CartService/GetCart": {
        ms: 1.2,
        span: "POST /oteldemo.CartService/GetCart",
        steps: [redis("HGET")],
        failure: cartFailed,
        log: "info: cart.cartstore.ValkeyCartStore[0]\n      GetCartAsync called with userId={user}",
        errorLog:
          "fail: Grpc.AspNetCore.Server.ServerCallHandler[6]\n      Error when executing service method 'GetCart'. {error}",
      },
      "CartService/AddItem": {
        ms: 1.5,
        span: "POST /oteldemo.CartService/AddItem",
        steps: [redis("HGET"), redis("HMSET"), redis("EXPIRE")],
        failure: cartFailed,
        log: "info: cart.cartstore.ValkeyCartStore[0]\n      AddItemAsync called with userId={user}, productId={product}, quantity={quantity}",
        errorLog:
          "fail: Grpc.AspNetCore.Server.ServerCallHandler[6]\n      Error when executing service method 'AddItem'. {error}",
      },
      "CartService/EmptyCart": {
        ms: 1.2,
        span: "POST /oteldemo.CartService/EmptyCart",
        steps: [redis("HMSET"), redis("EXPIRE")],
        failure: cartFailed,
        effects: [
          {
            flag: "cartFailure",
            effect: "fail",
            code: "FAILED_PRECONDITION",
            message:
              'Status(StatusCode="FailedPrecondition", Detail="Can\'t access cart storage. System.ApplicationException: Wasn\'t able to connect to redis")',
          },
        ],
        log: "info: cart.cartstore.ValkeyCartStore[0]\n      EmptyCartAsync called with userId={user}",
        errorLog:
          "fail: Grpc.AspNetCore.Server.ServerCallHandler[6]\n      Error when executing service method 'EmptyCart'. {error}",
      },
    },
    banner: [
      "info: cart.cartstore.ValkeyCartStore[0]\n      Connecting to Redis: {VALKEY_ADDR},ssl=false,allowAdmin=true,abortConnect=false",
      "info: Microsoft.Hosting.Lifetime[14]\n      Now listening on: http://[::]:{port}",
      "info: Microsoft.Hosting.Lifetime[0]\n      Application started. Press Ctrl+C to shut down.",
    ],
    idle: { cpuCores: 0.005, memoryBytes: 72 * MiB },
    needsBytes: 48 * MiB,
    cpuMs: 1.2,
  },

  "product-catalog": {
    language: "go",
    image: "product-catalog",
    entrypoint: ["./product-catalog", "/usr/src/app/product-catalog", "/product-catalog", "product-catalog"],
    listens: [{ env: "PRODUCT_CATALOG_PORT", protocol: "grpc" }],
    mustHave: ["PRODUCT_CATALOG_PORT", "DB_CONNECTION_STRING"],
    dependencies: [
      {
        address: { env: "DB_CONNECTION_STRING", port: 5432 },
        protocol: "postgres",
        onFailure: "exit",
        afterMs: 5000,
        code: 1,
        log: ['{"time":"{time}","level":"ERROR","msg":"failed to connect to the database","error":"{error}"}'],
      },
    ],
    operations: {
      "ProductCatalogService/GetProduct": {
        ms: 0.5,
        span: "oteldemo.ProductCatalogService/GetProduct",
        steps: [sql("SELECT catalog.products")],
        effects: [
          {
            flag: "productCatalogFailure",
            effect: "fail",
            share: 0.1,
            code: "INTERNAL",
            message: "Error: Product Catalog Fail Feature Flag Enabled",
          },
        ],
        log: '{"time":"{time}","level":"INFO","msg":"Product Found","app.product.id":"{product}","trace_id":"{trace}","span_id":"{spanId}"}',
        errorLog:
          '{"time":"{time}","level":"ERROR","msg":"{error}","app.product.id":"{product}","trace_id":"{trace}","span_id":"{spanId}"}',
      },
      "ProductCatalogService/ListProducts": {
        ms: 0.7,
        span: "oteldemo.ProductCatalogService/ListProducts",
        steps: [sql("SELECT catalog.products")],
        log: '{"time":"{time}","level":"INFO","msg":"Products listed","app.products.count":10,"trace_id":"{trace}","span_id":"{spanId}"}',
        errorLog: '{"time":"{time}","level":"ERROR","msg":"{error}","trace_id":"{trace}","span_id":"{spanId}"}',
      },
    },
    banner: [
      '{"time":"{time}","level":"INFO","msg":"Connected to the product database"}',
      '{"time":"{time}","level":"INFO","msg":"Product Catalog gRPC server started on port: {port}"}',
    ],
    idle: { cpuCores: 0.002, memoryBytes: 11 * MiB },
    needsBytes: 8 * MiB,
    cpuMs: 0.3,
  },

  recommendation: {
    language: "python",
    image: "recommendation",
    entrypoint: ["python", "python3", "opentelemetry-instrument"],
    shell: true,
    listens: [{ env: "RECOMMENDATION_PORT", protocol: "grpc" }],
    mustHave: ["RECOMMENDATION_PORT", "PRODUCT_CATALOG_ADDR"],
    operations: {
      "RecommendationService/ListRecommendations": {
        ms: 2,
        span: "/oteldemo.RecommendationService/ListRecommendations",
        counter: "app_recommendations_counter_total",
        steps: [
          {
            internal: "get_product_list",
            ms: 0.5,
            steps: [grpc("product-catalog", "ProductCatalogService/ListProducts", "/oteldemo.")],
          },
        ],
        effects: [{ flag: "recommendationCacheFailure", effect: "slow", factor: 100 }],
        log: "{time} INFO [main] [recommendation_server.py:47] [trace_id={trace} span_id={spanId} resource.service.name=recommendation trace_sampled=True] - Receive ListRecommendations for product ids:['{product}']",
        errorLog:
          "{time} ERROR [grpc._server] [_server.py:610] [trace_id={trace} span_id={spanId} resource.service.name=recommendation trace_sampled=True] - Exception calling application: {error}",
      },
    },
    banner: [
      "{time} INFO [main] [recommendation_server.py:144] [trace_id=0 span_id=0 resource.service.name=recommendation trace_sampled=False] - Recommendation service started, listening on port: {port}",
    ],
    idle: { cpuCores: 0.006, memoryBytes: 62 * MiB },
    needsBytes: 48 * MiB,
    cpuMs: 2,
    burdens: [{ flag: "recommendationCacheFailure", effect: "slow", leakBytesPerSecond: MiB, cores: 0.2 }],
  },

  ad: {
    language: "java",
    image: "ad",
    entrypoint: ["./build/install/opentelemetry-demo-ad/bin/Ad", "java"],
    shell: true,
    // Outside the chart the program listens on 9555.
    listens: [
      { env: "AD_PORT", port: 9555, protocol: "grpc" },
      { env: "AD_PROMETHEUS_PORT", protocol: "http" },
    ],
    mustHave: ["AD_PORT"],
    operations: {
      "AdService/GetAds": {
        ms: 1.5,
        span: "oteldemo.AdService/GetAds",
        counter: "app_ads_ad_requests_total",
        steps: [{ internal: "getAdsByCategory", ms: 0.4 }],
        effects: [
          { flag: "adFailure", effect: "fail", code: "UNAVAILABLE", message: "UNAVAILABLE" },
          { flag: "adHighCpu", effect: "slow", factor: 1400 },
          { flag: "adManualGc", effect: "delay", ms: 1800 },
        ],
        log: "{time} - oteldemo.AdService - Targeted ad request received for [{category}] trace_id={trace} span_id={spanId} trace_flags=01",
        errorLog:
          "{time} - oteldemo.AdService - GetAds Failed with status Status{code={error}} trace_id={trace} span_id={spanId} trace_flags=01",
      },
    },
    banner: ["{time} - oteldemo.AdService - Ad service started, listening on {port} trace_id= span_id= trace_flags="],
    idle: { cpuCores: 0.008, memoryBytes: 190 * MiB },
    needsBytes: 140 * MiB,
    cpuMs: 1.5,
    burdens: [
      { flag: "adHighCpu", effect: "slow", cores: 3.6 },
      { flag: "adManualGc", effect: "slow", cores: 0.9 },
    ],
  },

  currency: {
    language: "cpp",
    image: "currency",
    entrypoint: ["./usr/local/bin/currency", "/usr/local/bin/currency"],
    shell: true,
    listens: [{ env: "CURRENCY_PORT", protocol: "grpc" }],
    mustHave: ["CURRENCY_PORT"],
    operations: {
      "CurrencyService/Convert": {
        ms: 0.3,
        span: "Currency/Convert",
        counter: "app_currency_counter_total",
        log: "[{time}] [INFO] [server.cpp] Convert conversion successful, EUR to {currency}, trace_id={trace}",
      },
      "CurrencyService/GetSupportedCurrencies": {
        ms: 0.3,
        span: "Currency/GetSupportedCurrencies",
        log: "[{time}] [INFO] [server.cpp] GetSupportedCurrencies successful, trace_id={trace}",
      },
    },
    banner: ["Currency Server listening on port: 0.0.0.0:{port}"],
    idle: { cpuCores: 0.001, memoryBytes: 6 * MiB },
    needsBytes: 4 * MiB,
    cpuMs: 0.2,
  },

  shipping: {
    language: "rust",
    image: "shipping",
    entrypoint: ["/app/shipping", "./shipping"],
    listens: [{ env: "SHIPPING_PORT", protocol: "http" }],
    mustHave: ["SHIPPING_PORT", "QUOTE_ADDR"],
    operations: {
      "POST /get-quote": {
        ms: 0.6,
        span: "POST /get-quote",
        steps: [http("quote", "POST /getquote")],
        failure: "failed to get quote: {error}",
        effects: [{ flag: "intlShippingSlowdown", effect: "delay", ms: 1000, share: 0.3 }],
        log: '{"timestamp":"{time}","level":"INFO","fields":{"message":"Sending Quote: {amount}"},"target":"shipping::shipping_service"}',
        errorLog:
          '{"timestamp":"{time}","level":"ERROR","fields":{"message":"{error}"},"target":"shipping::shipping_service::quote"}',
      },
      "POST /ship-order": {
        ms: 0.4,
        span: "POST /ship-order",
        log: '{"timestamp":"{time}","level":"INFO","fields":{"message":"Tracking ID Created: {tracking}"},"target":"shipping::shipping_service"}',
      },
    },
    banner: [
      '{"timestamp":"{time}","level":"INFO","fields":{"message":"Shipping Service is running on 0.0.0.0:{port}"},"target":"shipping"}',
    ],
    idle: { cpuCores: 0.001, memoryBytes: 5 * MiB },
    needsBytes: 4 * MiB,
    cpuMs: 0.3,
  },

  quote: {
    language: "php",
    image: "quote",
    entrypoint: ["php", "docker-php-entrypoint"],
    shell: true,
    listens: [{ env: "QUOTE_PORT", port: 8080, protocol: "http" }],
    operations: {
      "POST /getquote": {
        ms: 1.2,
        span: "POST /getquote",
        counter: "quotes_total",
        steps: [{ internal: "calculate-quote", ms: 0.3 }],
        log: '[{time}] quote.INFO: Calculated quote {"total":{amount}} {"trace_id":"{trace}","span_id":"{spanId}"}',
      },
    },
    banner: ["Listening on http://0.0.0.0:{port}"],
    idle: { cpuCores: 0.001, memoryBytes: 19 * MiB },
    needsBytes: 12 * MiB,
    cpuMs: 1,
  },
};
