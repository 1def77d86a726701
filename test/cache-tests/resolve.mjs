// Loaded before the suite's client: the name that the node under test serves is this machine, and the suite's one
// dependency, undici, is this project's.
import dns from 'node:dns';
import { register } from 'node:module';

const { lookup } = dns;
dns.lookup = (name, options, done) => lookup(name === 'cache.test' ? '127.0.0.1' : name, options, done);

const undici = JSON.stringify(import.meta.resolve('undici'));
const hooks = `export const resolve = (name, context, next) =>
  name === 'undici' ? next(${undici}, context) : next(name, context);`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
