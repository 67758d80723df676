// A short conversation for a first look around.

export const SAMPLE = `Me: So the lake house is ours from the twelfth of June. Four nights.
Nora: Lovely. Is there a boat this time?
Me: Two kayaks and a rowing boat, and the owner leaves the key with the bakery next door.
Nora: I will bring my grandmother's lemon cake. Is Theo still allergic to walnuts?
Me: Yes, walnuts and pecans. Almonds are fine for him.
Nora: Good, then almonds it is. Who is driving?
Me: I can take three people and the bags. I need to book the ferry by Friday though.
Nora: And I will ask my brother whether we can have his big tent.
Me: Perfect. I will send everyone the address and a packing list on Sunday.`;
