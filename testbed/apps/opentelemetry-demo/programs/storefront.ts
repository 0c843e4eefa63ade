/** What a user meets: load generator, proxy, web frontend, images, documentation, and the assistant behind the chat. */
import type { AddressSource, Operation, Program } from "../../../traffic/behaviour.js";
import { grpc, http, MiB } from "./calls.js";

/** Requests that the frontend answers: path patterns as Next.js names its spans. */
const frontendOperations: Record<string, Operation> = {
  // The page is rendered on the server: by far the dearest request.
  "GET /": { ms: 14, cpuMs: 16, span: "GET /", attributes: { "http.route": "/" } },
  "GET /api/products": {
    ms: 3,
    span: "GET /api/products",
    steps: [
      nodeGrpc("product-catalog", "ProductCatalogService/ListProducts"),
      nodeGrpc("currency", "CurrencyService/Convert"),
    ],
  },
  "GET /api/products/[productId]": {
    ms: 3,
    span: "GET /api/products/[productId]",
    steps: [
      nodeGrpc("product-catalog", "ProductCatalogService/GetProduct"),
      nodeGrpc("currency", "CurrencyService/Convert"),
    ],
  },
  "GET /api/recommendations": {
    ms: 3,
    span: "GET /api/recommendations",
    steps: [
      nodeGrpc("recommendation", "RecommendationService/ListRecommendations"),
      nodeGrpc("product-catalog", "ProductCatalogService/GetProduct", 3),
    ],
  },
  "GET /api/data": { ms: 3, span: "GET /api/data", steps: [nodeGrpc("ad", "AdService/GetAds")] },
  "GET /api/currency": {
    ms: 2,
    span: "GET /api/currency",
    steps: [nodeGrpc("currency", "CurrencyService/GetSupportedCurrencies")],
  },
  "GET /api/shipping": { ms: 3, span: "GET /api/shipping", steps: [http("shipping", "POST /get-quote")] },
  "GET /api/cart": {
    ms: 3,
    span: "GET /api/cart",
    steps: [
      nodeGrpc("cart", "CartService/GetCart"),
      nodeGrpc("product-catalog", "ProductCatalogService/GetProduct", 2),
    ],
  },
  "POST /api/cart": {
    ms: 3,
    span: "POST /api/cart",
    steps: [nodeGrpc("cart", "CartService/AddItem"), nodeGrpc("cart", "CartService/GetCart")],
  },
  "DELETE /api/cart": { ms: 3, span: "DELETE /api/cart", steps: [nodeGrpc("cart", "CartService/EmptyCart")] },
  "POST /api/checkout": {
    ms: 5,
    span: "POST /api/checkout",
    steps: [
      nodeGrpc("checkout", "CheckoutService/PlaceOrder"),
      nodeGrpc("product-catalog", "ProductCatalogService/GetProduct"),
    ],
  },
};
for (const operation of Object.values(frontendOperations)) {
  operation.errorLog =
    "Error: {error}\n    at callErrorFromStatus (/app/node_modules/@grpc/grpc-js/build/src/call.js:32:19)";
}

/** A call as grpc-js' instrumentation names it. */
function nodeGrpc(to: string, method: string, times = 1) {
  return grpc(to, method, "grpc.oteldemo.", { times });
}

/** Behind which upstream of the proxy an operation lies: the route that Envoy takes, and the span that it writes. */
function proxied(upstream: string, address: AddressSource, operations: Iterable<string>): Record<string, Operation> {
  const routes: Record<string, Operation> = {};
  for (const operation of operations) {
    routes[operation] = {
      ms: 0.6,
      span: "ingress",
      attributes: { component: "proxy", "http.protocol": "HTTP/1.1" },
      steps: [
        {
          to: upstream,
          address,
          protocol: "http",
          operation,
          span: `router ${upstream} egress`,
          timeoutMs: 15_000,
          shedMs: 4000,
        },
      ],
      log: `[{time}] "{request} HTTP/1.1" 200 - via_upstream - "-" 0 {size} {duration} {duration} "-" "k6/1.4" "{trace}" "frontend-proxy:8080" "{upstream}" ${upstream}`,
      errorLog: `[{time}] "{request} HTTP/1.1" {status} {responseFlags} {responseDetails} - "{error}" 0 {size} {duration} - "-" "k6/1.4" "{trace}" "frontend-proxy:8080" "{upstream}" ${upstream}`,
    };
  }
  return routes;
}

/** Pages in a browser ask the proxy to hold images back for as long as the flag says. */
function browserImages(): Operation {
  const [operation] = Object.values(proxied("image-provider", hostPort("IMAGE_PROVIDER"), ["GET /images"]));
  return { ...operation!, effects: [{ flag: "imageSlowLoad", effect: "delay", ms: 1 }] };
}

function hostPort(prefix: string): AddressSource {
  return { hostEnv: `${prefix}_HOST`, portEnv: `${prefix}_PORT` };
}

const python = { language: "python", shell: true } as const;

export const storefront: Record<string, Program> = {
  "load-generator": {
    language: "k6",
    image: "load-generator",
    entrypoint: ["k6", "/usr/bin/k6", "load-generator"],
    shell: true,
    mustHave: ["K6_TARGET_URL"],
    banner: ["running (0h00m00.0s), 0/{users} VUs, 0 complete and 0 interrupted iterations"],
    idle: { cpuCores: 0.03, memoryBytes: 190 * MiB },
    needsBytes: 96 * MiB,
    cpuMs: 2,
  },

  "frontend-proxy": {
    language: "envoy",
    image: "frontend-proxy",
    entrypoint: ["envoy", "/usr/local/bin/envoy"],
    shell: true,
    listens: [
      { env: "ENVOY_PORT", port: 8080, protocol: "http" },
      { env: "ENVOY_ADMIN_PORT", port: 10000, protocol: "http" },
    ],
    operations: {
      ...proxied("frontend", hostPort("FRONTEND"), Object.keys(frontendOperations)),
      ...proxied("image-provider", hostPort("IMAGE_PROVIDER"), ["GET /images"]),
      "GET /images from a browser": browserImages(),
      ...proxied("chatbot", hostPort("CHATBOT"), ["POST /chatbot"]),
      ...proxied("telemetry-docs", hostPort("TELEMETRY_DOCS"), ["GET /telemetry-docs"]),
    },
    banner: ["[info][main] [source/server/server.cc:1062] starting main dispatch loop"],
    idle: { cpuCores: 0.006, memoryBytes: 38 * MiB },
    needsBytes: 24 * MiB,
    cpuMs: 0.4,
  },

  frontend: {
    language: "node",
    image: "frontend",
    entrypoint: ["node", "/usr/local/bin/node", "npm", "./server.js"],
    shell: true,
    listens: [{ env: "PORT", port: 3000, protocol: "http" }],
    operations: frontendOperations,
    banner: ["   ▲ Next.js 16.0.0", "   - Network:      http://0.0.0.0:{port}", " ✓ Ready in 312ms"],
    idle: { cpuCores: 0.01, memoryBytes: 118 * MiB },
    needsBytes: 90 * MiB,
    cpuMs: 5,
    // JavaScript runs on one thread.
    cores: 1,
  },

  "image-provider": {
    language: "nginx",
    image: "image-provider",
    entrypoint: ["nginx"],
    shell: true,
    listens: [{ env: "IMAGE_PROVIDER_PORT", port: 8081, protocol: "http" }],
    operations: {
      "GET /images": {
        ms: 1.2,
        span: "image-provider",
        log: '10.244.1.7 - - [{time}] "GET /images/products/{picture} HTTP/1.1" 200 {size} "-" "k6/1.4" "-"',
      },
    },
    banner: ["[notice] 1#1: start worker processes"],
    idle: { cpuCores: 0.001, memoryBytes: 12 * MiB },
    needsBytes: 6 * MiB,
    cpuMs: 0.3,
  },

  "telemetry-docs": {
    language: "nginx",
    image: "telemetry-docs",
    entrypoint: ["nginx"],
    shell: true,
    listens: [{ env: "TELEMETRY_DOCS_PORT", port: 8000, protocol: "http" }],
    operations: {
      "GET /telemetry-docs": {
        ms: 1.5,
        span: "telemetry-docs",
        log: '10.244.1.7 - - [{time}] "GET / HTTP/1.1" 200 {size} "-" "k6/1.4" "-"',
      },
    },
    banner: ["[notice] 1#1: start worker processes"],
    idle: { cpuCores: 0.001, memoryBytes: 14 * MiB },
    needsBytes: 6 * MiB,
    cpuMs: 0.3,
  },

  chatbot: {
    ...python,
    image: "chatbot",
    entrypoint: ["python", "python3", "opentelemetry-instrument"],
    listens: [{ env: "CHATBOT_PORT", port: 7860, protocol: "http" }],
    operations: {
      "POST /chatbot": {
        ms: 9,
        span: "POST /chatbot/gradio_api/run/predict",
        steps: [http("agent", "POST /prompt")],
        log: "{time} INFO [chatbot] [main.py:71] [trace_id={trace} span_id={spanId}] - question answered",
        errorLog:
          "{time} ERROR [chatbot] [main.py:76] [trace_id={trace} span_id={spanId}] - agent did not answer: {error}",
      },
    },
    banner: ["* Running on local URL:  http://0.0.0.0:{port}"],
    idle: { cpuCores: 0.004, memoryBytes: 160 * MiB },
    needsBytes: 110 * MiB,
    cpuMs: 8,
  },

  agent: {
    ...python,
    image: "agent",
    entrypoint: ["python", "python3", "uvicorn"],
    listens: [{ env: "AGENT_PORT", port: 8010, protocol: "http" }],
    operations: {
      "POST /prompt": {
        ms: 30,
        span: "POST /prompt",
        steps: [
          {
            internal: "ChatOpenAI.chat",
            ms: 260,
          },
          {
            ...http("mcp", "POST /mcp", { span: "search_products.tool" }),
            when: { env: "MCP_ENABLED", equals: "true" },
          },
          {
            to: "frontend",
            address: { env: "APPLICATION_ENDPOINT" },
            protocol: "http",
            operation: "GET /api/products",
            span: "GET",
            unless: { env: "MCP_ENABLED", equals: "true" },
          },
        ],
        log: "{time} INFO [agent] [agent.py:118] [trace_id={trace} span_id={spanId}] - answered from recorded model output",
        errorLog: "{time} ERROR [agent] [agent.py:131] [trace_id={trace} span_id={spanId}] - tool failed: {error}",
      },
    },
    banner: ["INFO:     Uvicorn running on http://0.0.0.0:{port} (Press CTRL+C to quit)"],
    idle: { cpuCores: 0.004, memoryBytes: 210 * MiB },
    needsBytes: 150 * MiB,
    cpuMs: 30,
  },

  mcp: {
    ...python,
    image: "mcp",
    entrypoint: ["python", "python3", "uvicorn"],
    listens: [{ env: "MCP_PORT", port: 8011, protocol: "http" }],
    operations: {
      "POST /mcp": {
        ms: 6,
        span: "POST /mcp",
        steps: [
          {
            to: "frontend",
            address: { env: "APPLICATION_ENDPOINT" },
            protocol: "http",
            operation: "GET /api/products",
            span: "GET",
          },
        ],
        log: "{time} INFO [mcp] [server.py:64] [trace_id={trace} span_id={spanId}] - tool search_products called",
        errorLog:
          "{time} ERROR [mcp] [server.py:70] [trace_id={trace} span_id={spanId}] - tool search_products failed: {error}",
      },
    },
    banner: ["INFO:     Uvicorn running on http://0.0.0.0:{port} (Press CTRL+C to quit)"],
    idle: { cpuCores: 0.004, memoryBytes: 140 * MiB },
    needsBytes: 100 * MiB,
    cpuMs: 6,
  },
};
