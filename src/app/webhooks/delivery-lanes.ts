import type { DueDelivery } from '../../store/deliveries.ts';

/** This many go at once to an endpoint that nothing is known of yet or that fails; twice as many with each success. */
const FIRST_WIDTH = 8;
const MAX_WIDTH = 128;
/** Of an endpoint that answers, up to this many times its width is taken: a large claim costs hardly more than a small one. */
const AHEAD = 4;
/** What was taken ahead is given back after this: the endpoint is slower than thought, or was changed meanwhile. */
const MAX_WAIT_MS = 2_000;
/** Endpoints that are new or fail share these places, so that dead ones never take those of the living. */
const UNPROVEN_PLACES = 1_000;
/** Idle lanes are remembered for what was learnt of their endpoints, unless there are more lanes than this. */
const MAX_IDLE_LANES = 1_000;

/** One endpoint's deliveries in this process. Only `createLanes` changes it. */
export interface Lane {
  /** Taken and not yet being sent, oldest first. */
  waiting: DueDelivery[];
  takenAt: number;
  sending: number;
  /** How many may be sent at once. */
  width: number;
  /** The latest attempt was acknowledged. */
  proven: boolean;
  /** Unless the last claim looked and found less than there was room for. */
  mayHaveMore: boolean;
}

/** How many deliveries may be taken: by endpoint, and of each endpoint that is not named. */
export interface Quotas {
  readonly named: Readonly<Record<string, number>>;
  readonly others: number;
}

/** How deliveries were taken; `isCut` when the claim as a whole was limited, whatever the quotas. */
export interface Claim {
  readonly quotas: Quotas;
  readonly isCut: boolean;
  readonly now: number;
}

export interface Lanes {
  quotas(): Quotas;
  /** Lines up what was taken, and returns the lanes that got something. */
  lineUp(due: readonly DueDelivery[], claim: Claim): Iterable<Lane>;
  /** The lane's next delivery, to be sent now; null when its width is used up or nothing waits. */
  start(lane: Lane): DueDelivery | null;
  /** Notes that an attempt ended. A lane doubles its width with each success and is narrow again after a failure. */
  end(lane: Lane, acknowledged: boolean): void;
  /** Whether there is room for more and probably something to take. */
  wantsMore(lane: Lane): boolean;
  anyWantsMore(): boolean;
  /** Takes out what waits in one lane. */
  takeOut(lane: Lane): readonly DueDelivery[];
  /** Takes out what has waited for too long. */
  takeOutStale(now: number): readonly DueDelivery[];
  takeOutAll(): readonly DueDelivery[];
}

/** A lane for each endpoint, so that a slow or dead one fills only its own. */
export function createLanes(): Lanes {
  const lanes = new Map<string, Lane>();
  /** Of each lane that is not proven; 0 when their places are used up. */
  let unprovenPlaces = FIRST_WIDTH;

  const laneOf = (endpointId: string): Lane => {
    const known = lanes.get(endpointId);
    if (known !== undefined) return known;
    const lane = { waiting: [], takenAt: 0, sending: 0, width: FIRST_WIDTH, proven: false, mayHaveMore: false };
    lanes.set(endpointId, lane);
    return lane;
  };

  /** Places are offered when half of them are free, so that claims are few and large. */
  const placesIn = (lane: Lane): number => {
    const most = lane.proven ? lane.width * AHEAD : unprovenPlaces;
    const taken = heldIn(lane);
    return taken <= most / 2 ? most - taken : 0;
  };

  const wantsMore = (lane: Lane): boolean => lane.mayHaveMore && placesIn(lane) > 0;

  const takeOutOf = (isStale: (lane: Lane) => boolean): readonly DueDelivery[] =>
    [...lanes.values()].filter(isStale).flatMap((lane) => lane.waiting.splice(0));

  return {
    quotas() {
      for (const [id, lane] of lanes) if (lanes.size > MAX_IDLE_LANES && heldIn(lane) === 0) lanes.delete(id);
      const unproven = [...lanes.values()].filter((lane) => !lane.proven);
      const isFull = unproven.reduce((sum, lane) => sum + heldIn(lane), 0) >= UNPROVEN_PLACES;
      unprovenPlaces = isFull ? 0 : Math.min(FIRST_WIDTH, Math.ceil(UNPROVEN_PLACES / Math.max(1, unproven.length)));
      const named = [...lanes].map(([id, lane]) => [id, placesIn(lane)] as const);
      return { named: Object.fromEntries(named), others: isFull ? 0 : FIRST_WIDTH };
    },
    lineUp(due, { quotas, isCut, now }) {
      // A lane without a free place was not looked at.
      for (const [id, places] of Object.entries(quotas.named)) laneOf(id).mayHaveMore = isCut || places === 0;
      const filled = Map.groupBy(due, (delivery) => delivery.endpoint.id);
      return [...filled].map(([id, deliveries]) => {
        const lane = laneOf(id);
        if (lane.waiting.length === 0) lane.takenAt = now;
        lane.waiting.push(...deliveries);
        lane.mayHaveMore = isCut || deliveries.length >= (quotas.named[id] ?? quotas.others);
        return lane;
      });
    },
    start(lane) {
      const next = lane.sending < lane.width ? lane.waiting.shift() : undefined;
      if (next === undefined) return null;
      lane.sending += 1;
      return next;
    },
    end(lane, acknowledged) {
      lane.sending -= 1;
      lane.proven = acknowledged;
      lane.width = acknowledged ? Math.min(MAX_WIDTH, lane.width * 2) : FIRST_WIDTH;
    },
    wantsMore,
    takeOut: (lane) => lane.waiting.splice(0),
    anyWantsMore: () => [...lanes.values()].some(wantsMore),
    takeOutStale: (now) => takeOutOf((lane) => now - lane.takenAt > MAX_WAIT_MS),
    takeOutAll: () => takeOutOf(() => true),
  };
}

function heldIn(lane: Lane): number {
  return lane.waiting.length + lane.sending;
}
