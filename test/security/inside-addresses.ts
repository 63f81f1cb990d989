/** Ways to write addresses that are not of the public internet; PORT is that of the listener. */
const LOOPBACK_4 = `127.0.0.1 127.0.0.1. 127.1 127.0.1 127.000.000.001 0177.0.0.1 0177.0.0.01
0x7f.0.0.1 0x7f.1 0x7F000001 0X7f000001 2130706433 017700000001 0x7f.0x0.0x0.0x1 127.0.0.0x1
127.0x1 0x7f.0.1 127.255.255.254 127.12.34.56 127.0.0.1%2e 127%2e0%2e0%2e1 %31%32%37.0.0.1
1%327.0.0.1 127。0。0。1 127．0．0．1 127｡0｡0｡1 １２７.0.0.1 ①②⑦.⓪.⓪.①
𝟏𝟐𝟕.0.0.1 𝟙𝟚𝟟.𝟘.𝟘.𝟙 ⑫7.0.0.1 0
0.0.0.0 00 0x0 0.0.0.1 0.1.2.3 000.000.000.000`;
const LOOPBACK_6 = `[::1] [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001] [::0001]
[0::1] [::] [0:0:0:0:0:0:0:0] [::ffff:127.0.0.1] [::ffff:7f00:1] [::FFFF:7F00:0001]
[0:0:0:0:0:ffff:7f00:1] [0000:0000:0000:0000:0000:ffff:7f00:0001] [::ffff:0:127.0.0.1]
[::127.0.0.1] [::7f00:1] [::ffff:0.0.0.0] [::ffff:10.0.0.1] [::ffff:a9fe:a9fe]
[::ffff:192.168.0.1] [::ffff:8.8.8.8]`;
const TRANSLATED = `[64:ff9b::127.0.0.1] [64:ff9b::7f00:1] [64:ff9b::10.0.0.1]
[64:ff9b::a9fe:a9fe] [64:ff9b::192.168.1.1] [64:ff9b:0:0:0:0:7f00:1] [64:ff9b:1::7f00:1]
[64:ff9b:1::8.8.8.8] [64:ff9b::0.0.0.0] [2002:7f00:1::] [2002:7f00:0001::1] [2002:a00:1::]
[2002:c0a8:101::] [2002:a9fe:a9fe::1] [2002:808:808::] [2001::] [2001:0:7f00:1::]
[2001:0000:4136:e378:8000:63bf:3fff:fdd2] [2001:0:0:0:0:0:f5ff:fffe] [2001:0:1234::80ff:fffe]`;
const LOCAL = `10.0.0.1 10.255.255.255 10.1 0xa.1 012.0.0.1 167772161 172.16.0.1 172.31.255.254
0xac100001 192.168.0.1 192.168.1.254 192.168.257 0300.0250.0.1 3232235777 100.64.0.1
100.127.255.254 169.254.0.1 169.254.1.1 [fc00::1] [fd00::1] [fdff:ffff::1] [fe80::1] [febf::1]
[fec0::1] [FE80::1]`;
const METADATA = `169.254.169.254 169.254.169.253 0xa9fea9fe 2852039166 0251.0376.0251.0376
169.254.43518 0xa9.0xfe.0xa9.0xfe 169.254.170.2 100.100.100.200 168.63.129.16 192.0.0.192
[fd00:ec2::254] [fd00:ec2::23] [fd20:ce::254] [fe80::a9fe:a9fe] [::ffff:169.254.169.254]
[::169.254.169.254] [0:0:0:0:0:ffff:a9fe:a9fe]`;
const RESERVED = `192.0.0.1 192.0.0.8 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1
192.175.48.1 198.18.0.1 198.19.255.254 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.250
240.0.0.1 254.1.2.3 255.255.255.255 4294967295 0xffffffff [ff02::1] [ff0e::1] [100::1]
[100:0:0:1::1] [2001:db8::1] [2001:2::1] [2001:10::1] [2001:20::1] [2001:1::1] [2620:4f:8000::1]
[3fff::1] [5f00::1] [4000::1] [8000::1] [e000::1]`;
const NAMES = `localhost LOCALHOST localhost. LocalHost ⓛⓞⓒⓐⓛⓗⓞⓢⓣ localho%73t sub.localhost
inside.test INSIDE.test inside.test. inside6.test mixed.test mixed6.test mapped.test
metadata.test nat64.test sixtofour.test zone.test intranet wiki.corp bücher.test
xn--bcher-kva.test ip6-localhost unspecified.test`;

const hosts = [LOOPBACK_4, LOOPBACK_6, TRANSLATED, LOCAL, METADATA, RESERVED, NAMES].flatMap(
  (list) => list.split(/\s+/),
);

/** Around the host: slashes, spaces, users and ports may be written in many ways, too. */
const WHOLE = `http:///127.0.0.1:PORT/ http:127.0.0.1:PORT/ http:\\\\127.0.0.1:PORT/
http:/\\127.0.0.1:PORT/ http://user@127.0.0.1:PORT/ http://user:pass@127.0.0.1:PORT/
http://example.org@127.0.0.1:PORT/ http://example.org:80@127.0.0.1:PORT/
http://example.org%2F@127.0.0.1:PORT/ http://127.0.0.1:PORT#@example.org/
http://127.0.0.1:PORT?@example.org/ http://127.0.0.1:PORT\\@example.org/ HTTP://127.0.0.1:PORT/
hTTps://127.0.0.1:PORT/ http://127.0.0.1:0PORT/ http://[::1]:PORT#x http://@127.0.0.1:PORT/
http://:@127.0.0.1:PORT/ http://example.org:PORT:127.0.0.1/ http://127.0.0.1:PORT:80/
http://[::1%25lo]:PORT/ http://[::1%lo]:PORT/ http://[fe80::1%25eth0]:PORT/
http://[127.0.0.1]:PORT/ http://[::1:PORT/ http://:PORT/ http:// https://
http://%00127.0.0.1:PORT/ http://256.256.256.256:PORT/ http://127.0.0.1.1:PORT/
ftp://127.0.0.1:PORT/ file:///etc/passwd file://127.0.0.1/etc/passwd
gopher://127.0.0.1:PORT/_GET ws://127.0.0.1:PORT/ wss://127.0.0.1:PORT/ dict://127.0.0.1:PORT/
ldap://127.0.0.1:PORT/ tftp://127.0.0.1:PORT/ jar:http://127.0.0.1:PORT/!/
view-source://127.0.0.1:PORT/ data://text/html,hi unix:///var/run/docker.sock
blob:http://127.0.0.1:PORT/1 javascript://127.0.0.1:PORT/%0aalert(1) netdoc://127.0.0.1:PORT/`;

/** Every form as an address. */
export const insideAddresses = (port: number): string[] => [
  ...hosts.map((host) => `http://${host}:${port}/`),
  ...WHOLE.split(/\s+/).map((address) => address.replace('PORT', String(port))),
];

/** What the names in the forms resolve to. */
export const NAMED: Readonly<Record<string, readonly string[]>> = {
  localhost: ['127.0.0.1', '::1'],
  'sub.localhost': ['127.0.0.1'],
  'inside.test': ['127.0.0.1'],
  'inside6.test': ['::1'],
  'mixed.test': ['93.184.216.34', '127.0.0.1'],
  'mixed6.test': ['2606:2800:220:1::1', '::1'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'metadata.test': ['169.254.169.254'],
  'nat64.test': ['64:ff9b::7f00:1'],
  'sixtofour.test': ['2002:7f00:1::'],
  'zone.test': ['fe80::1%lo'],
  intranet: ['10.0.0.7'],
  'wiki.corp': ['192.168.3.4'],
  'xn--bcher-kva.test': ['127.0.0.1'],
  'ip6-localhost': ['::1'],
  'unspecified.test': ['0.0.0.0'],
};
