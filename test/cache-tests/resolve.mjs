// Loaded before the suite's client: the name that the node under test serves is this machine.
import dns from 'node:dns';

const { lookup } = dns;
dns.lookup = (name, options, done) => lookup(name === 'cache.test' ? '127.0.0.1' : name, options, done);
