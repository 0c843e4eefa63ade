/**
 * Derives testbed/kube/schema/protobuf.json from the .proto files of the Go modules k8s.io/api and k8s.io/apimachinery
 * (`go mod download k8s.io/api@v0.34.2 k8s.io/apimachinery@v0.34.2`): the numbers of the fields, which kubectl's typed
 * clients write on the wire.
 *
 *     node scripts/build-protobuf-table.mjs MODULE_FOLDER...
 *
 * A message is a map from field number to `name type`; `*` before the type means repeated, `{}` a map with string keys.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const known = JSON.parse(readFileSync(join(root, "testbed/kube/schema/table.json"), "utf8")).types;
const messages = {};
for (const folder of process.argv.slice(2)) {
  for (const file of readdirSync(folder, { recursive: true })) {
    if (file.endsWith("generated.proto")) read(readFileSync(join(folder, file), "utf8"));
  }
}

function read(text) {
  const plain = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\/\/.*/g, "");
  const scope = /package ([\w.]+);/.exec(plain)[1];
  for (const [, name, body] of plain.matchAll(/message (\w+) \{([^}]*)\}/g)) {
    const fields = {};
    for (const m of body.matchAll(/(optional|repeated|map<string,\s*([\w.]+)>)\s+(?:([\w.]+)\s+)?(\w+)\s*=\s*(\d+)/g)) {
      const [, label, value, plainType, field, number] = m;
      const mark = label === "repeated" ? "*" : label === "optional" ? "" : "{}";
      fields[number] = `${field} ${mark}${typeName(value ?? plainType, scope)}`;
    }
    messages[shorten(`${scope}.${name}`)] = fields;
  }
}

function typeName(type, scope) {
  if (/^(string|bytes|bool|int32|int64|double)$/.test(type)) return type;
  return shorten(type.startsWith(".") ? type.slice(1) : `${scope}.${type}`);
}
function shorten(name) {
  return name.replace(/^k8s\.io\./, "");
}

const keep = new Set();
const reach = (name) => {
  if (keep.has(name) || !messages[name]) return;
  keep.add(name);
  for (const f of Object.values(messages[name])) reach(f.slice(f.indexOf(" ") + 1).replace(/^(\*|\{\})/, ""));
};
for (const [name, type] of Object.entries(known)) if (type.gvk || name.endsWith("Options")) reach(name);
const lines = [...keep].sort().map((name) => `${JSON.stringify(name)}:${JSON.stringify(messages[name])}`);
const target = join(root, "testbed/kube/schema/protobuf.json");
writeFileSync(target, `{\n${lines.join(",\n")}\n}\n`);
console.log(`${target}: ${keep.size} messages`);
