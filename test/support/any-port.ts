/** A module for `--import` that takes the place of an example's own port and address, and prints the port it got. */
export const ANY_PORT = `
import net from 'node:net';
const { listen } = net.Server.prototype;
net.Server.prototype.listen = function (...args) {
  this.once('listening', () => console.log(this.address().port));
  return listen.call(this, 0, '127.0.0.1', args.find((one) => typeof one === 'function'));
};
`;
