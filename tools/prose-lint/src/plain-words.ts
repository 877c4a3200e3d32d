import type { TextlintRuleReporter } from '@textlint/types';

interface Options {
  /** Regular expressions, and what to write instead. A space matches across lines. */
  readonly words: Record<string, string>;
}

/** Reports words that our style replaces. */
const rule: TextlintRuleReporter<Options> = ({ RuleError, report, locator, getSource }, options) => {
  if (typeof options !== 'object') throw new Error('plain-words needs its options');
  const banned = Object.entries(options.words).map(([pattern, instead]) => ({
    // A word in a path, a file name or a hyphenated name is none of prose.
    pattern: new RegExp(`(?<![\\w/.-])(?:${pattern.replaceAll(' ', '[\\s*/]+')})(?![\\w-]|\\.\\w)`, 'gi'),
    instead,
  }));
  const inProse = (node: Parameters<typeof report>[0]) => {
    for (const { pattern, instead } of banned)
      for (const { 0: found, index } of getSource(node).matchAll(pattern)) {
        const padding = locator.range([index, index + found.length]);
        report(node, new RuleError(`"${found.replace(/[\s*/]+/g, ' ')}": write ${instead}`, { padding }));
      }
  };
  return { Str: inProse, CodeBlock: inProse };
};
export default rule;
