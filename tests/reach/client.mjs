// One call through a client of a TypeScript SDK: node client.mjs (client|sdk) (auto|legacy) TOOL COMMAND…
// Prints the client's result.
const [sdk, mode, tool, command, ...args] = process.argv.slice(2);
const modules = process.env.MODULES;
const load = (path) => import(`${modules}/${path}`);
const [{ Client }, { StdioClientTransport }] = sdk === "client"
    ? await Promise.all([load("client/dist/index.mjs"), load("client/dist/stdio.mjs")])
    : await Promise.all([load("sdk/dist/esm/client/index.js"), load("sdk/dist/esm/client/stdio.js")]);
const options = sdk === "client" ? { versionNegotiation: { mode } } : {};
const client = new Client({ name: "ts-agent", version: "1" }, options);
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" }));
await client.listTools();
console.log(JSON.stringify(await client.callTool({ name: tool, arguments: { path: "x" } })));
await client.close();
