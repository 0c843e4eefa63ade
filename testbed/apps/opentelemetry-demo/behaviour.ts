/** How the demo behaves: its programs, and what its users do. */
import type { Behaviour, UserRequest } from "../../traffic/behaviour.js";
import { orders } from "./programs/orders.js";
import { platform } from "./programs/platform.js";
import { shop } from "./programs/shop.js";
import { storefront } from "./programs/storefront.js";

const home: UserRequest = { method: "GET", path: "/", operation: "GET /" };
const product: UserRequest = {
  method: "GET",
  path: "/api/products/{product}",
  operation: "GET /api/products/[productId]",
};
const products: UserRequest = { method: "GET", path: "/api/products", operation: "GET /api/products" };
const addToCart: UserRequest = { method: "POST", path: "/api/cart", operation: "POST /api/cart" };
const viewCart: UserRequest = { method: "GET", path: "/api/cart", operation: "GET /api/cart" };
const emptyCart: UserRequest = { method: "DELETE", path: "/api/cart", operation: "DELETE /api/cart" };
const checkout: UserRequest = { method: "POST", path: "/api/checkout", operation: "POST /api/checkout" };
const image: UserRequest = { method: "GET", path: "/images/products/{picture}", operation: "GET /images" };

export const demoBehaviour: Behaviour = {
  serviceNamespace: "opentelemetry-demo",
  programs: { ...storefront, ...shop, ...orders, ...platform },
  flags: {
    address: { hostEnv: "FLAGD_HOST", portEnv: "FLAGD_PORT" },
    program: "flagd",
    span: "flagd.evaluation.v1.Service/ResolveBoolean",
  },
  topics: { backlogLimit: 150, partitions: 1 },
  users: {
    program: "load-generator",
    target: { env: "K6_TARGET_URL" },
    entry: "frontend-proxy",
    users: { env: "LOAD_GENERATOR_VUS", flag: "loadGeneratorVUs" },
    spawnRate: { env: "LOAD_GENERATOR_SPAWN_RATE", default: 5 },
    pause: "loadGeneratorTraffic",
    thinkSeconds: 5.5,
    flows: [
      { name: "user_index", weight: 3, requests: [home], flood: "loadGeneratorFloodHomepage" },
      { name: "user_browse_product", weight: 8, requests: [product] },
      { name: "user_list_products", weight: 2, requests: [products] },
      {
        name: "user_get_recommendations",
        weight: 3,
        requests: [
          { method: "GET", path: "/api/recommendations?productIds={product}", operation: "GET /api/recommendations" },
        ],
      },
      {
        name: "user_get_ads",
        weight: 3,
        requests: [{ method: "GET", path: "/api/data?contextKeys={category}", operation: "GET /api/data" }],
      },
      {
        name: "user_get_currencies",
        weight: 1,
        requests: [{ method: "GET", path: "/api/currency", operation: "GET /api/currency" }],
      },
      {
        name: "user_get_shipping_quote",
        weight: 2,
        requests: [{ method: "GET", path: "/api/shipping?currencyCode={currency}", operation: "GET /api/shipping" }],
      },
      { name: "user_view_cart", weight: 3, requests: [viewCart] },
      { name: "user_add_to_cart", weight: 2, requests: [product, addToCart] },
      { name: "user_empty_cart", weight: 1, requests: [addToCart, emptyCart] },
      { name: "user_checkout_single", weight: 3, requests: [addToCart, checkout] },
      { name: "user_checkout_multi", weight: 2, requests: [{ ...addToCart, times: 3 }, checkout] },
      { name: "user_load_images", weight: 2, requests: [image] },
      {
        name: "user_read_telemetry_docs",
        weight: 1,
        requests: [{ method: "GET", path: "/telemetry-docs/", operation: "GET /telemetry-docs" }],
      },
      {
        name: "user_ask_assistant",
        weight: 1,
        requests: [{ method: "POST", path: "/chatbot/gradio_api/run/predict", operation: "POST /chatbot" }],
      },
      {
        name: "browser_open_product_page",
        weight: 2,
        requests: [home, product, { ...image, operation: "GET /images from a browser", times: 8 }],
        when: { env: "K6_BROWSER_ENABLED", equals: "true" },
      },
    ],
  },
  values: {
    product: [
      "0PUK6V6EV0",
      "1YMWWN1N4O",
      "2ZYFJ3GM2N",
      "66VCHSJNUP",
      "6E92ZMYYFZ",
      "9SIQT8TOJO",
      "L9ECAV7KIM",
      "LS4PSXUNUM",
      "OLJCESPC7Z",
      "HQTGWGPNH4",
    ],
    picture: [
      "NationalParkFoundationExplorascope.jpg",
      "StarsenseExplorer.jpg",
      "EclipsmartTravelRefractorTelescope.jpg",
    ],
    category: ["binoculars", "telescopes", "accessories", "assembly", "travel", "books"],
    currency: ["USD", "EUR", "CHF", "CAD", "GBP", "JPY"],
  },
  images: {
    "ghcr.io/open-telemetry/demo": [
      "3.0.0",
      "2.2.0",
      "2.1.3",
      "2.1.2",
      "2.1.1",
      "2.1.0",
      "2.0.2",
      "2.0.1",
      "2.0.0",
      "latest",
    ],
  },
};
