/** What `npm start` needs of the system. */
export type ToolName = 'redis' | 'perl' | 'ffmpeg' | 'setpriv';

interface System {
  /** The system's `ID` in os-release, or one of its `ID_LIKE`. */
  readonly ids: readonly string[];
  readonly packages?: Readonly<Record<ToolName, string>>;
  /** What to do on this system, in one sentence. */
  readonly advise: (packages: string, missing: readonly ToolName[]) => string;
}

const systems: Readonly<Record<string, System>> = {
  Debian: {
    ids: ['debian', 'ubuntu'],
    packages: { redis: 'redis-server', perl: 'perl-base', ffmpeg: 'ffmpeg', setpriv: 'util-linux' },
    advise: (packages) => `On Debian or Ubuntu: sudo apt-get install ${packages}`,
  },
  Fedora: {
    ids: ['fedora', 'rhel', 'centos'],
    packages: { redis: 'valkey', perl: 'perl-interpreter', ffmpeg: 'ffmpeg', setpriv: 'util-linux' },
    advise: (packages, missing) => {
      const first = missing.includes('ffmpeg')
        ? ' (first enable RPM Fusion, https://rpmfusion.org/Configuration, whose ffmpeg has H.264)'
        : '';
      return `On Fedora: sudo dnf install ${packages}${first}`;
    },
  },
  Arch: {
    ids: ['arch'],
    packages: { redis: 'valkey', perl: 'perl', ffmpeg: 'ffmpeg', setpriv: 'util-linux' },
    advise: (packages) => `On Arch Linux: sudo pacman -S ${packages}`,
  },
  Alpine: {
    ids: ['alpine'],
    advise: () => 'On Alpine, run the container (docs/host/one-container.md): the Node of npm needs glibc',
  },
  NixOS: {
    ids: ['nixos'],
    // /usr/bin/perl, and the loader that Node from npm needs, exist only in such an environment.
    advise: () =>
      'On NixOS, run npm start in this shell: nix-shell -E \'with import <nixpkgs> {}; (buildFHSEnv { name = "echodrop"; ' +
      "targetPkgs = p: [ p.nodejs p.valkey p.ffmpeg p.perl p.util-linux ]; }).env'",
  },
  macOS: {
    ids: ['darwin'],
    advise: () =>
      'On macOS, run Echodrop in Docker (docs/host/compose.md) or a virtual machine with Linux: its sandbox for media tools needs Linux',
  },
};

/** The packages of Debian that contain these tools. */
export function debianPackages(missing: readonly ToolName[]): string[] {
  return packagesOf('Debian', missing);
}

/** What to do where these tools are missing: a sentence for this system, or for every one if it is unknown. */
export function adviceFor(missing: readonly ToolName[], platform: string, osRelease: string): string[] {
  const ids = platform === 'linux' ? idsIn(osRelease) : [platform];
  const known = Object.keys(systems).filter((name) => systems[name]?.ids.some((id) => ids.includes(id)));
  return (known.length > 0 ? known : Object.keys(systems)).flatMap(
    (name) => systems[name]?.advise(packagesOf(name, missing).join(' '), missing) ?? [],
  );
}

function packagesOf(system: string, missing: readonly ToolName[]): string[] {
  const packages = systems[system]?.packages;
  return packages ? [...new Set(missing.map((tool) => packages[tool]))] : [];
}

/** `ID` and the words of `ID_LIKE` in the text of an os-release file. */
function idsIn(osRelease: string): string[] {
  const values = osRelease.matchAll(/^(?:ID|ID_LIKE)=["']?([^"'\n]*)["']?$/gm);
  return [...values].flatMap(([, value = '']) => value.split(' '));
}
