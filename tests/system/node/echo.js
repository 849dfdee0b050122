// SPDX-License-Identifier: MIT
// Talks to the echo server at argv[2] through the package ws; exits with 0 when all went right.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import WebSocket from 'ws';

const url = process.argv[2];

async function open(...args) {
  const ws = new WebSocket(url, ...args);
  await once(ws, 'open');
  return ws;
}

async function echo(ws, data, options = {}) {
  const answer = once(ws, 'message');
  ws.send(data, options);
  const [message, binary] = await answer;
  return { message, binary };
}

async function closed(ws) {
  const [code, reason] = await once(ws, 'close');
  return { code, reason: reason.toString() };
}

const scenes = {
  async text() {
    const ws = await open();
    const { message, binary } = await echo(ws, 'grüße');
    assert.equal(message.toString(), 'grüße');
    assert.equal(binary, false);
    ws.close(1000, 'bye');
    assert.equal((await closed(ws)).code, 1000);
  },

  async binary() {
    const ws = await open();
    for (const size of [0, 1, 125, 126, 127, 65535, 65536, 1 << 20]) {
      const data = Buffer.alloc(size, size & 255);
      const { message, binary } = await echo(ws, data);
      assert.ok(message.equals(data), `size ${size}`);
      assert.equal(binary, true);
    }
    ws.terminate();
  },

  async fragments() {
    const ws = await open();
    const answer = once(ws, 'message');
    ws.send('one ', { fin: false });
    ws.ping('between');
    ws.send('two ', { fin: false });
    ws.send('three', { fin: true });
    assert.equal((await answer)[0].toString(), 'one two three');
    ws.close();
    assert.equal((await closed(ws)).code, 1005);
  },

  async pingAndPong() {
    const ws = await open();
    const pong = once(ws, 'pong');
    ws.ping('payload');
    assert.equal((await pong)[0].toString(), 'payload');
    ws.close(4321, 'own code');
    assert.equal((await closed(ws)).code, 4321);
  },

  async manyInFlight() {
    const ws = await open();
    const received = [];
    const done = new Promise((resolve) => {
      ws.on('message', (message) => {
        received.push(Number(message.toString()));
        if (received.length === 10000) resolve();
      });
    });
    for (let i = 0; i < 10000; i++) ws.send(String(i));
    await done;
    assert.deepEqual(received, Array.from({ length: 10000 }, (_, i) => i));
    ws.close();
    await closed(ws);
  },

  async withoutDeflate() {
    const ws = await open({ perMessageDeflate: true });
    assert.equal(ws.extensions, '');
    ws.close();
    await closed(ws);
  },

  async unofferedSubprotocolIsNotChosen() {
    const ws = new WebSocket(url, ['chat.example']);
    const [error] = await once(ws, 'error');
    assert.match(error.message, /Server sent no subprotocol/);
  },
};

for (const [name, scene] of Object.entries(scenes)) {
  await scene();
  console.log(`ok ${name}`);
}
