/** Text in which no character is markup within a link (CommonMark 0.31 section 2.4). */
export function escapeMarkdown(text: string): string {
  return text.replaceAll(/[\\`*_[\]<>&~!|]/g, '\\$&');
}
