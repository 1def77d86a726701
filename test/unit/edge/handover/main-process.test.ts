/** Which processes end their container with them. */
import { expect, test } from 'vitest';
import { endsContainer } from '../../../../src/edge/handover/main-process.ts';

test.each([
  ['process 1', { pid: 1, ppid: 0, first: 'node' }, 'the first process of a container'],
  [
    'the first process of a container that shares its process namespace',
    { pid: 17, ppid: 0, first: 'pause' },
    'the first process of a container',
  ],
  [
    'the child of an init of containers',
    { pid: 7, ppid: 1, first: 'docker-init' },
    'process 1, `docker-init`, ends',
  ],
  ['the child of a shell that is process 1', { pid: 7, ppid: 1, first: 'sh' }, 'process 1, `sh`, ends'],
])('%s cannot hand over', (_, place, sentence) => {
  expect(endsContainer(place)).toContain(sentence);
  expect(endsContainer(place)).toContain('replace the container instead');
});

test.each([
  ['a child of systemd', { pid: 700, ppid: 1, first: 'systemd' }],
  ['a child of an unknown process 1', { pid: 700, ppid: 1, first: null }],
  ['a grandchild of an init of containers', { pid: 9, ppid: 7, first: 'docker-init' }],
])('%s can hand over', (_, place) => {
  expect(endsContainer(place)).toBeNull();
});
