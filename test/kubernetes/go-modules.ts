import { execa } from 'execa';

/** Downloads a Go module, such as `example.com/module@v1.2.3`. @returns its folder, which is read-only */
export async function goModule(module: string): Promise<string> {
  const { stdout } = await execa('go', ['mod', 'download', '-json', module], { timeout: 300_000 });
  return (JSON.parse(stdout) as { Dir: string }).Dir;
}
