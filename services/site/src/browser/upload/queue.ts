const limit = 2;

const waiting: (() => Promise<void>)[] = [];
let running = 0;

/** Runs the task when fewer than two others run, or at once when it is aborted. The task must not reject. */
export function enqueue(task: () => Promise<void>, signal: AbortSignal) {
  waiting.push(task);
  signal.addEventListener('abort', () => {
    if (!waiting.includes(task)) return;
    waiting.splice(waiting.indexOf(task), 1);
    void task();
  });
  runNext();
}

function runNext() {
  if (running === limit) return;
  const task = waiting.shift();
  if (!task) return;
  running += 1;
  void task().finally(() => {
    running -= 1;
    runNext();
  });
}
