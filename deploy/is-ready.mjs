// The images' health command: whether the service in this container says of itself that it may be sent work.
const withinMs = 4000;

const answer = await fetch(`http://127.0.0.1:${process.env.OPS_PORT}/readyz`, {
  signal: AbortSignal.timeout(withinMs),
});
if (!answer.ok) {
  process.stdout.write(await answer.text());
  process.exitCode = 1;
}
