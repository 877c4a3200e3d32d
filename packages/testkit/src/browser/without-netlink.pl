#!/usr/bin/perl
# without-netlink ARGUMENT...
#
# Starts ECHODROP_TEST_BROWSER without netlink, from which Chromium learns that an address of this machine came or went. It would then fail each
# request that waits for a connection (ERR_NETWORK_CHANGED), even to 127.0.0.1, and a container that starts would fail tests. No flag prevents it.
use strict;
use warnings;
use Config;

my %calls = ('x86_64-linux' => [ 157, 41 ], 'aarch64-linux' => [ 167, 198 ]);    # prctl, socket
my $calls = $calls{ $Config{archname} =~ s/^([^-]+-linux).*/$1/r };
if ($calls) {
  my ($prctl, $socket) = @$calls;
  # BPF: 0x20 load, 0x15 jump if equal, 6 return.
  my $code = join '', map { pack('SCCL', @$_) } (
    [ 0x20, 0, 0, 0 ], [ 0x15, 0, 3, $socket ],    # the number of the call
    [ 0x20, 0, 0, 16 ], [ 0x15, 0, 1, 16 ],        # its first argument: AF_NETLINK
    [ 6, 0, 0, 0x50000 | 97 ],                     # EAFNOSUPPORT
    [ 6, 0, 0, 0x7fff0000 ],                       # allowed
  );
  my $program = pack('S x6 P', length($code) / 8, $code);
  # PR_SET_NO_NEW_PRIVS; PR_SET_SECCOMP, SECCOMP_MODE_FILTER
  (syscall($prctl, 38, 1, 0, 0, 0) == 0 and syscall($prctl, 22, 2, $program) == 0) or warn "Without a seccomp filter: $!\n";
}
exec { $ENV{ECHODROP_TEST_BROWSER} } $ENV{ECHODROP_TEST_BROWSER}, @ARGV or die "$ENV{ECHODROP_TEST_BROWSER}: $!\n";
