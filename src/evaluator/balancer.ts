export interface Pool { lbType: 'round_robin'|'least_load'|'geo'; weights: readonly number[]; nodeIds: readonly (readonly number[])[] }
export type PoolState = number[];
export function createPoolState(n: number): PoolState { return new Array(n).fill(0); }
export interface View { nodeId: number|null; healthy(i: number): boolean; inFlight(i: number): number }
export function pick(pool: Pool, state: PoolState, view: View, opt: {advance: boolean}): number {
  const all = pool.weights.map((w,i)=>w>0?i:-1).filter((i)=>i>=0);
  let el: number[]; let w = (i: number) => pool.weights[i]!;
  if (pool.lbType==='geo') { w = () => 1;
    const groups=[all.filter((i)=>view.nodeId!==null&&pool.nodeIds[i]!.includes(view.nodeId)), all.filter((i)=>pool.nodeIds[i]!.length===0), all];
    const g=groups.find((g)=>g.some((i)=>view.healthy(i)));
    el = g ? g.filter((i)=>view.healthy(i)) : groups.find((g)=>g.length>0)!;
  } else { el = all.filter((i)=>view.healthy(i)); if(!el.length) el=all;
    if (pool.lbType==='least_load') { const r=(i: number)=>view.inFlight(i)/pool.weights[i]!; const m=Math.min(...el.map(r)); el=el.filter((i)=>r(i)===m); } }
  let best=-1, bv=-Infinity, total=0;
  for (const i of el) { total+=w(i); const v=state[i]!+w(i); if(v>bv){bv=v;best=i;} }
  if (opt.advance) { for (const i of el) state[i]!+=w(i); state[best]!-=total; }
  return best;
}
