import type { TxtNode } from '@textlint/ast-node-types';
import type { TextlintRuleReporter } from '@textlint/types';

/** Reports lines of Markdown paragraphs above `max` characters: a sentence per line makes changes readable. Tables are exempt. */
const rule: TextlintRuleReporter<{ readonly max: number }> = (context, options) => {
  const { RuleError, report, locator, getSource, getFilePath } = context;
  const max = typeof options === 'object' ? options.max : 200;
  const check = (node: TxtNode) => {
    if (!getFilePath()?.endsWith('.md')) return;
    let start = 0;
    for (const line of getSource(node).split('\n')) {
      const padding = locator.range([start, start + line.length]);
      // Inline code cannot be wrapped.
      if (line.replace(/`[^`]*`/g, '').length > max)
        report(
          node,
          new RuleError(`${line.length} characters: at most ${max}; begin each sentence on a line of its own`, {
            padding,
          }),
        );
      start += line.length + 1;
    }
  };
  return { Paragraph: check };
};
export default rule;
