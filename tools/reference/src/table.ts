/** A Markdown table. Cells are Markdown; pipes, and angle brackets outside code, are escaped. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(escapeCell).join(' | ')} |`;
  return [line(columns), `|${'---|'.repeat(columns.length)}`, ...rows.map(line)].join('\n');
}

function escapeCell(cell: string): string {
  // A forge reads a placeholder such as <hours> as an element, and hides it.
  return cell.replaceAll('|', '\\|').replace(/`[^`]*`|</g, (found) => (found === '<' ? '&lt;' : found));
}
