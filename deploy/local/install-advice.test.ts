import { expect, test } from 'vitest';
import { adviceFor, debianPackages } from './install-advice.ts';

const all = ['redis', 'perl', 'ffmpeg', 'ffmpeg'] as const;

test.each([
  [
    'Debian',
    'PRETTY_NAME="Debian GNU/Linux 12"\nID=debian\n',
    /^On Debian or Ubuntu: sudo apt-get install redis-server perl-base ffmpeg$/,
  ],
  ['Linux Mint', 'ID=linuxmint\nID_LIKE="ubuntu debian"\n', /^On Debian or Ubuntu: /],
  ['Fedora', 'ID=fedora\n', /^On Fedora: sudo dnf install valkey perl-interpreter ffmpeg \(first enable RPM Fusion/],
  ['Rocky', "ID='rocky'\nID_LIKE='rhel centos fedora'\n", /^On Fedora: sudo dnf install /],
  ['Arch', 'NAME="Arch Linux"\nID=arch\nBUILD_ID=rolling\n', /^On Arch Linux: sudo pacman -S valkey perl ffmpeg$/],
  ['Manjaro', 'ID=manjaro\nID_LIKE=arch\n', /^On Arch Linux: /],
  ['Alpine', 'ID=alpine\n', /^On Alpine, run the container/],
  [
    'NixOS',
    'ID=nixos\nANSI_COLOR="0"\n',
    /^On NixOS, run npm start in this shell: nix-shell -E '.*p\.valkey p\.ffmpeg p\.perl/,
  ],
])('one sentence for %s', (_name, osRelease, sentence) => {
  expect(adviceFor(all, 'linux', osRelease)).toEqual([expect.stringMatching(sentence)]);
});

test('one sentence for macOS', () => {
  expect(adviceFor(all, 'darwin', '')).toEqual([expect.stringMatching(/^On macOS, run Echodrop in Docker/)]);
});

test('the sentences for all systems, if this one is none of them', () => {
  const names = ['Debian', 'Fedora', 'Arch', 'Alpine', 'NixOS', 'macOS'];
  expect(adviceFor(all, 'linux', 'ID=void\n').map((text) => /^On (\w+)/.exec(text)?.[1])).toEqual(names);
  expect(adviceFor(all, 'linux', '')).toHaveLength(names.length);
});

test('names only what is missing, and RPM Fusion only for ffmpeg', () => {
  expect(adviceFor(['redis'], 'linux', 'ID=fedora\n')).toEqual(['On Fedora: sudo dnf install valkey']);
  expect(debianPackages(['ffmpeg', 'ffmpeg'])).toEqual(['ffmpeg']);
});
