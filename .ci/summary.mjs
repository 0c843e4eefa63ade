/** Prints "N passed, N failed, N skipped" from Vitest's JSON report; exit code 1 when anything failed. */
import { readFileSync } from "node:fs";

const [report, alreadyFailed] = process.argv.slice(2);
let tests = [];
let broken = 0;
try {
  const { testResults } = JSON.parse(readFileSync(report, "utf8"));
  tests = testResults.flatMap((file) => file.assertionResults);
  // A file that could not be loaded has no tests, and would go unseen.
  broken = testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0).length;
} catch (error) {
  console.log(`no test report: ${error.message}`);
  broken = 1;
}
const passed = tests.filter((test) => test.status === "passed").length;
const failed = tests.filter((test) => test.status === "failed").length + broken;
const skipped = tests.length - passed - (failed - broken);
const failure = failed > 0 || tests.length === 0 || alreadyFailed === "1";
if (failure && failed === 0) console.log("\nno test failed, but a check before the tests did");
console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failure ? 1 : 0;
