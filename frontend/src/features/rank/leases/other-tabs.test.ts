import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Lives } from "./alive";
import { OtherTabs, type Channel } from "./other-tabs";

/** Channels of one name: messages arrive in order, those of a slow tab when the test says so. */
class Air {
  private readonly channels = new Set<Channel>();
  private kept: (() => void)[] = [];
  slow: Channel | null = null;

  open(): Channel {
    const channel: Channel = {
      onmessage: null,
      postMessage: (message) => this.post(channel, message),
      close: () => void this.channels.delete(channel),
    };
    this.channels.add(channel);
    return channel;
  }

  arrive(): void {
    const late = this.kept;
    this.kept = [];
    for (const deliver of late) deliver();
  }

  private post(from: Channel, data: unknown): void {
    const deliver = () => {
      for (const channel of this.channels)
        if (channel !== from) channel.onmessage?.({ data } as MessageEvent<unknown>);
    };
    if (from === this.slow) this.kept.push(deliver);
    else deliver();
  }
}

const MINUTE = 60_000;
const lasting = (ids: readonly string[]) =>
  new Map(ids.map((id) => [id, Date.now() + 15 * MINUTE]));

/** A tab that drops what it is to let go, as the queue does, except what somebody works on there. */
function openTab(air: Air, worksOn: readonly string[] = []) {
  const channel = air.open();
  const tab = {
    channel,
    held: [] as readonly string[],
    letGo: [] as string[][],
    hold: (ids: readonly string[]) => {
      tab.held = ids;
      tab.others.hold(lasting(ids));
    },
    others: new OtherTabs(channel, (ids) => {
      tab.letGo.push([...ids]);
      const kept = tab.held.filter((id) => !ids.includes(id) || worksOn.includes(id));
      if (kept.length < tab.held.length) tab.hold(kept);
    }),
  };
  return tab;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (ms = 1000) => vi.setSystemTime(Date.now() + ms);

function openTwo(worksOn: readonly string[] = []) {
  const air = new Air();
  const elder = openTab(air);
  elder.hold(["a", "b"]);
  pass();
  return { air, elder, openYounger: () => openTab(air, worksOn) };
}

describe("tabs of one person", () => {
  it("hear at once what was held before they were opened", () => {
    const { openYounger } = openTwo();
    expect(openYounger().others.held).toEqual(["a", "b"]);
  });

  it("let go of what an elder tab holds, however late it says so", () => {
    const { air, elder, openYounger } = openTwo();
    air.slow = elder.channel;
    const younger = openYounger();
    expect(younger.others.held).toEqual([]);
    younger.hold(["a", "c"]);

    air.arrive();

    expect(younger.held).toEqual(["c"]);
    expect(younger.others.held).toEqual(["a", "b"]);
    expect(elder.held).toEqual(["a", "b"]);
    expect(elder.letGo).toEqual([]);
  });

  it("let go of it when both were granted it at once, the younger alone", () => {
    const { elder, openYounger } = openTwo();
    const younger = openYounger();
    younger.hold(["c"]);
    elder.hold(["a", "b", "c"]);
    expect([elder.held, younger.held]).toEqual([["a", "b", "c"], []]);

    younger.hold(["b"]);

    expect([elder.held, younger.held]).toEqual([["a", "b", "c"], []]);
    expect(elder.letGo).toEqual([]);
  });

  it("of which none is elder agree on which one lets go", () => {
    const air = new Air();
    const tabs = [openTab(air), openTab(air)];
    for (const tab of tabs) tab.hold(["a"]);
    expect(tabs.map(({ held }) => held.length).sort()).toEqual([0, 1]);
  });

  it("keep what somebody works on, and tell each other no more than before", () => {
    const { elder, openYounger } = openTwo(["a"]);
    const younger = openYounger();
    younger.hold(["a"]);
    elder.hold(["a", "b"]);
    expect([elder.held, younger.held]).toEqual([["a", "b"], ["a"]]);
    expect(elder.letGo).toEqual([]);
    expect(younger.letGo).toEqual([["a"], ["a"]]);
  });

  it("do not count as others' what they hold themselves", () => {
    const { elder, openYounger } = openTwo();
    const younger = openYounger();
    elder.hold(["a"]);
    expect(younger.others.held).toEqual(["a"]);
    younger.others.hold(lasting(["b"]));
    expect(elder.others.held).toEqual(["b"]);
    elder.others.hold(lasting(["a", "b"]));
    expect(elder.others.held).toEqual([]);
  });

  it("hold nothing once they are closed or left", () => {
    const { elder, openYounger } = openTwo();
    const younger = openYounger();
    elder.others.leave();
    expect(younger.others.held).toEqual([]);
    younger.hold(["c"]);
    younger.others.close();
    expect(elder.others.held).toEqual([]);
  });

  it("come back as the youngest: what another was granted meanwhile is the other's", () => {
    const { elder, openYounger } = openTwo();
    const younger = openYounger();
    elder.others.leave();
    younger.hold(["a"]);
    pass();

    elder.others.comeBack();

    expect([elder.held, younger.held]).toEqual([["b"], ["a"]]);
    expect(younger.others.held).toEqual(["b"]);
  });

  it("hold nothing any more of which the leases have ended: anybody may be granted these", () => {
    const { elder, openYounger } = openTwo();
    const younger = openYounger();
    younger.hold(["c"]);
    pass(14 * MINUTE);
    expect(younger.others.held).toEqual(["a", "b"]);
    younger.hold(["c"]);
    pass(MINUTE);
    expect(younger.others.held).toEqual([]);

    // The elder is left alone; it holds what it renews.
    younger.hold(["a", "c"]);
    expect([elder.held, younger.held]).toEqual([
      ["a", "b"],
      ["a", "c"],
    ]);
    expect(younger.letGo).toEqual([]);
    elder.hold(["a", "b"]);
    expect(younger.held).toEqual(["c"]);
  });

  it("hold what was just granted or renewed, however far ahead the clock is", () => {
    const { elder, openYounger } = openTwo();
    const younger = openYounger();
    const ended = Date.now() - 45 * MINUTE;
    elder.others.hold(new Map([["a", ended]]));
    expect(younger.others.held).toEqual(["a"]);
    pass(14 * MINUTE);
    elder.others.hold(new Map([["a", ended + 14 * MINUTE]]));
    pass(14 * MINUTE);
    elder.others.hold(new Map([["a", ended + 14 * MINUTE]]));
    expect(younger.others.held).toEqual(["a"]);
    pass(MINUTE);
    expect(younger.others.held).toEqual([]);
  });

  it("that an older Podium opened count as elder, for they never let go", () => {
    const air = new Air();
    const tab = openTab(air);
    tab.hold(["a", "b"]);
    air.open().postMessage({ tab: "old", ids: ["a"] });
    expect(tab.held).toEqual(["b"]);
    pass(20 * MINUTE);
    expect(tab.others.held).toEqual(["a"]);
  });

  describe("of which one dies", () => {
    /** Tabs that live, and who waits for the death of which. */
    class Village implements Lives {
      readonly watched = new Map<string, Set<() => void>>();
      readonly living = new Set<string>();

      begin(tab: string, onBegun: () => void): () => void {
        this.living.add(tab);
        onBegun();
        return () => void this.living.delete(tab);
      }

      afterDeath(tab: string, onDeath: () => void): () => void {
        const waiting = this.watched.get(tab) ?? new Set();
        this.watched.set(tab, waiting.add(onDeath));
        return () => void waiting.delete(onDeath);
      }

      die(): void {
        for (const [tab, waiting] of this.watched)
          if (this.living.delete(tab)) for (const tell of [...waiting]) tell();
      }
    }

    function openHeir() {
      const [air, village] = [new Air(), new Village()];
      const dying = new OtherTabs(air.open(), () => undefined, undefined, village);
      const onDeath = vi.fn();
      const heir = new OtherTabs(air.open(), () => undefined, onDeath, village);
      return { air, village, dying, heir, onDeath };
    }

    it("leave what it held to the others at once", () => {
      const { village, dying, heir, onDeath } = openHeir();
      dying.hold(lasting(["a"]));
      expect(heir.held).toEqual(["a"]);

      village.die();

      expect(heir.held).toEqual([]);
      expect(onDeath).toHaveBeenCalledOnce();
    });

    it("wait for nothing of one that was left or holds nothing", () => {
      const { village, dying, heir, onDeath } = openHeir();
      dying.hold(lasting(["a"]));
      dying.leave();
      village.die();
      dying.comeBack();
      dying.hold(new Map());
      village.die();
      expect(onDeath).not.toHaveBeenCalled();
      expect(heir.held).toEqual([]);
    });

    it("are waited for by none that was left, and by it again once somebody comes back", () => {
      const { village, dying, heir, onDeath } = openHeir();
      const nWaiting = () => [...village.watched.values()].reduce((n, { size }) => n + size, 0);
      dying.hold(lasting(["a"]));
      expect(nWaiting()).toBe(1);
      heir.leave();
      expect(nWaiting()).toBe(0);
      heir.comeBack();
      expect([nWaiting(), heir.held]).toEqual([1, ["a"]]);

      heir.leave();
      village.die();
      dying.close();
      heir.comeBack();
      expect([heir.held, onDeath.mock.calls]).toEqual([[], []]);
    });

    it("wait for nothing of one whose death nobody would hear of", () => {
      const { air, village, heir, onDeath } = openHeir();
      const deaf = new OtherTabs(air.open(), () => undefined, undefined, null);
      deaf.hold(lasting(["a"]));
      expect(village.watched.size).toBe(0);
      expect([heir.held, onDeath.mock.calls]).toEqual([["a"], []]);
    });
  });
});
