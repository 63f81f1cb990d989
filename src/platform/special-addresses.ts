import { BlockList, isIP } from 'node:net';

/** Networks of IPv4 that are not the public internet (IANA's registry), with Azure's host agent. */
const SPECIAL_4: readonly (readonly [network: string, prefix: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Within the global unicast of IPv6: Teredo and other protocols, documentation, 6to4, AS112. */
const SPECIAL_6: readonly (readonly [network: string, prefix: number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
];

/** Networks at home and at work, which a person may open for hosts by name. */
const OWN: readonly (readonly [network: string, prefix: number, family: 'ipv4' | 'ipv6'])[] = [
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['::1', 128, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
];

/** Where clouds tell a machine its secrets, within the networks above. */
const METADATA: readonly (readonly [address: string, family: 'ipv4' | 'ipv6'])[] = [
  ['100.100.100.200', 'ipv4'],
  ['192.0.0.192', 'ipv4'],
  ['fd00:ec2::254', 'ipv6'],
  ['fd20:ce::254', 'ipv6'],
];

const special = new BlockList();
for (const [network, prefix] of SPECIAL_4) {
  special.addSubnet(network, prefix, 'ipv4');
  // NAT64 leads to the address in its last 32 bits.
  special.addSubnet(`64:ff9b::${network}`, 96 + prefix, 'ipv6');
}
for (const [network, prefix] of SPECIAL_6) special.addSubnet(network, prefix, 'ipv6');

/** IPv6 that is not one of these is local, mapped, translated, multicast or not given out yet. */
const global = new BlockList();
global.addSubnet('2000::', 3, 'ipv6');
global.addSubnet('64:ff9b::', 96, 'ipv6');

const own = new BlockList();
for (const [network, prefix, family] of OWN) own.addSubnet(network, prefix, family);
const metadata = new BlockList();
for (const [address, family] of METADATA) metadata.addAddress(address, family);

/** Whether an address is one of the public internet. */
export function isPublicAddress(address: string): boolean {
  const family = familyOf(address);
  if (family === undefined || special.check(address, family)) return false;
  return family === 'ipv4' || global.check(address, family);
}

/** Whether an address is one of a network at home or at work; never that of a cloud's secrets. */
export function isOwnAddress(address: string): boolean {
  const family = familyOf(address);
  if (family === undefined || metadata.check(address, family)) return false;
  return !isMapped(address) && own.check(address, family);
}

/** `::ffff:10.0.0.1` would be checked as 10.0.0.1; no name resolves to such an address honestly. */
const isMapped = (address: string): boolean => /^::ffff:/i.test(address);

/** An address with a zone (`fe80::1%eth0`) is local to a link. */
function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  if (address.includes('%')) return undefined;
  const family = isIP(address);
  return family === 0 ? undefined : family === 4 ? 'ipv4' : 'ipv6';
}
