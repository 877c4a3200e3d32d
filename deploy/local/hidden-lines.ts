const maxLines = 5;

interface Line {
  readonly text: string;
  readonly isShown: boolean;
}

/** Those of the last lines of a program that its reader has not seen. */
export class HiddenLines {
  #lines: Line[] = [];
  #taken = '';

  add(text: string, isShown: boolean): void {
    if (text === '') return;
    this.#lines.push({ text, isShown });
    if (this.#lines.length > maxLines) this.#lines.shift();
  }

  /** Those of the run that has ended. None if only numbers, such as times, differ from what this has returned last. */
  take(): string[] {
    const lines = this.#lines.filter(({ isShown }) => !isShown).map(({ text }) => text);
    this.#lines = [];
    const kind = lines.join('\n').replace(/\d+/g, '0');
    if (kind === this.#taken) return [];
    this.#taken = kind;
    return lines;
  }
}
