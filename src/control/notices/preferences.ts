/** What an account wants on which channel: the defaults of the kinds, changed by its own preferences. */
import { NOTIFY_CHANNELS, type NotifyChannel, type PreferenceRow } from '../store/rows.ts';
import { KIND_NAMES, KINDS, type KindName } from './kinds.ts';

/** The channels of one kind; `null`: the kind never goes out on it. */
export type ChannelChoice = Readonly<Record<NotifyChannel, boolean | null>>;

/** The channels that an account has chosen for a kind. */
export function chosenChannels(name: KindName, stored: readonly PreferenceRow[]): ChannelChoice {
  const { usual } = KINDS[name];
  const choice = (channel: NotifyChannel): boolean | null => {
    if (usual[channel] === 'never') return null;
    const own = stored.find((row) => row.kind === name && row.channel === channel);
    return own?.enabled ?? usual[channel] === 'on';
  };
  return { email: choice('email'), sms: choice('sms'), webhook: choice('webhook') };
}

/** A change of the preferences of one kind; an absent channel stays as it is. */
export interface PreferenceChange {
  readonly kind: KindName;
  readonly channels: Readonly<Partial<Record<NotifyChannel, boolean | null | undefined>>>;
}

/** The rows of a change, or the channel that the kind never goes out on. `null` says that, and changes nothing. */
export function preferenceRows(
  accountId: number,
  { kind, channels }: PreferenceChange,
): { readonly rows: readonly PreferenceRow[] } | { readonly never: NotifyChannel } {
  const rows: PreferenceRow[] = [];
  for (const channel of NOTIFY_CHANNELS) {
    const enabled = channels[channel];
    if (enabled === undefined || enabled === null) continue;
    if (KINDS[kind].usual[channel] === 'never') {
      if (enabled) return { never: channel };
      continue;
    }
    rows.push({ account_id: accountId, kind, channel, enabled });
  }
  return { rows };
}

/** The choices of every kind that is sent, in the order of the kinds. */
export function allChoices(
  stored: readonly PreferenceRow[],
): readonly { readonly kind: KindName; readonly channels: ChannelChoice }[] {
  return KIND_NAMES.map((name) => ({ kind: name, channels: chosenChannels(name, stored) }));
}
