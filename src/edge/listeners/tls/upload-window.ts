/**
 * Flow-control windows for uploads over HTTP/2 (RFC 9113 §5.2). A client sends one window of a stream, and one of the
 * connection, per round trip: with the usual 64 KB an upload from 80 ms away gets 0.8 MB a second whatever its line. Few uploads
 * of a connection get large windows, many get small ones, so that what a client sends and nobody reads stays bounded.
 */
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { EarlyEnd } from '../../proxy/write-response.ts';

/** The window of each stream, in octets, at first and of many uploads at once: the default of HTTP/2. */
const SMALL_WINDOW = 65_535;
/** The window of each stream, in octets, of few uploads at once: 100 Mbit/s from 80 ms away. */
const LARGE_WINDOW = 1024 * 1024;
/** Uploads at once with large windows: as many octets as of 128 streams with small ones. */
const MAX_LARGE = 8;
/** Uploads at once below which windows grow again, so that each one more or less does not change them. */
const FEW = 4;
/** The window of the connection, in octets. It bounds only what is under way: Node reads each connection to its end. */
const CONNECTION_WINDOW = MAX_LARGE * LARGE_WINDOW;
/** Milliseconds for a client to acknowledge smaller windows, which apply from then on (RFC 9113 §6.5.3). */
const ACKNOWLEDGE_MS = 10_000;

/** Sets the windows of a connection by the number of its uploads. */
export function sizeUploadWindows(session: ServerHttp2Session): void {
  let uploads = 0;
  let isLarge = false;
  let due: NodeJS.Timeout | undefined;
  const adjust = (): void => {
    if (session.destroyed || session.pendingSettingsAck) return;
    if (isLarge ? uploads <= MAX_LARGE : uploads === 0 || uploads > FEW) return;
    isLarge = !isLarge;
    session.settings({ initialWindowSize: isLarge ? LARGE_WINDOW : SMALL_WINDOW });
    if (isLarge) return;
    due = setTimeout(() => endUnacknowledged(session), ACKNOWLEDGE_MS).unref();
  };
  session.setLocalWindowSize(CONNECTION_WINDOW);
  session.on('localSettings', () => {
    clearTimeout(due);
    adjust();
  });
  session.once('close', () => clearTimeout(due));
  session.on('stream', (stream: ServerHttp2Stream) => {
    if (stream.endAfterHeaders) return;
    uploads++;
    stream.once('close', () => {
      uploads--;
      adjust();
    });
    adjust();
  });
}

function endUnacknowledged(session: ServerHttp2Session): void {
  const fault = new EarlyEnd({ code: 'aborted', reason: 'the client does not acknowledge settings' });
  // `destroy` closes the socket before it has written more than the end of one stream.
  session.goaway(constants.NGHTTP2_SETTINGS_TIMEOUT);
  session.destroy(fault, constants.NGHTTP2_SETTINGS_TIMEOUT);
}
