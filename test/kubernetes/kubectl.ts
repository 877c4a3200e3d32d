/** What helpers need of a cluster. */
export interface Kubectl {
  /** The environment in which shell commands find kubectl and the cluster. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs kubectl. @returns its output */
  kubectl(...words: string[]): Promise<string>;
  /** Runs kubectl with standard input. @returns its output */
  kubectlWith(input: string, ...words: string[]): Promise<string>;
  /** Copies images from Docker to every node. */
  load(images: readonly string[]): Promise<void>;
}
