import type { TxtNode } from '@textlint/ast-node-types';
import type { TextlintRuleReporter } from '@textlint/types';

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Reports sentences of more words than `max`. An inline code or a link's address counts as the word it belongs to. */
const rule: TextlintRuleReporter<{ readonly max: number }> = ({ RuleError, report, locator, getSource }, options) => {
  const max = typeof options === 'object' ? options.max : 35;
  const check = (node: TxtNode) => {
    // A line's end would end a sentence.
    const text = getSource(node)
      .replaceAll('\n', ' ')
      .replace(/`[^`]*`/g, (code) => code.replaceAll(' ', '_'));
    for (const { segment, index } of sentences.segment(text)) {
      // Each part of a list with semicolons or a colon reads as a sentence.
      const words = Math.max(...segment.split(/[;:] /).map((part) => part.match(/\S*[\p{L}\d]\S*/gu)?.length ?? 0));
      const padding = locator.range([index, index + segment.trimEnd().length]);
      if (words > max)
        report(node, new RuleError(`${words} words in a sentence: at most ${max}, aim for 25`, { padding }));
    }
  };
  return { Paragraph: check, TableCell: check };
};
export default rule;
