import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRandom, createUrEncoder, crc32, psbtUr } from '../../web/dashboard/pages/refunds/sign/ur.ts';

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(new TextEncoder().encode(text));

/** The message of the published vectors: `length` random bytes as a CBOR byte string. */
async function messageOf(length: number): Promise<Uint8Array> {
  const random = await createRandom(bytesOf('Wolf'));
  const bytes = Uint8Array.from({ length }, () => Math.floor(random() * 256));
  return Uint8Array.of(...(length < 256 ? [0x58, length] : [0x59, length >> 8, length & 0xff]), ...bytes);
}

describe('a PSBT as Uniform Resources', () => {
  it('is written as the reference implementation writes it', async () => {
    expect([crc32(bytesOf('Hello, world!')), crc32(bytesOf('Wolf'))]).toEqual([0xebe6c6e6, 0x598c84dc]);
    expect((await createUrEncoder('bytes', await messageOf(50), 1_000).part(1)).toLowerCase()).toBe(
      'ur:bytes/hdeymejtswhhylkepmykhhtsytsnoyoyaxaedsuttydmmhhpktpmsrjtgwdpfnsboxgwlbaawzuefywkdplrsrjynbvygabwjldapfcsdwkbrkch',
    );
    const encoder = createUrEncoder('bytes', await messageOf(256), 30);
    const parts = await Promise.all(Array.from({ length: 20 }, (_, place) => encoder.part(place + 1)));
    expect(parts.map((part) => part.toLowerCase())).toEqual(PUBLISHED.map((rest) => `ur:bytes/${rest}`));
  });

  it('may be as long as the longest that is read', async () => {
    const encoder = psbtUr(new Uint8Array(1_500_000));
    expect(await encoder.part(encoder.count)).toContain(`/${encoder.count}-${encoder.count}/`);
  });

  it('is cut into parts that are small QR codes, however long it is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 20, maxLength: 3_000 }), fc.nat({ max: 500 }), async (psbt, from) => {
        const encoder = psbtUr(psbt);
        const seen = Array.from({ length: 6 * encoder.count + 12 }, (_, place) => encoder.part(from + place + 1));
        const parts = (await Promise.all(seen)).filter(
          (part) => encoder.count === 1 || part.includes(`-${encoder.count}/`),
        );
        expect(parts).toHaveLength(seen.length);
        for (const part of parts) expect(part).toMatch(/^UR:CRYPTO-PSBT\/(?:\d+-\d+\/)?[A-Z]+$/);
        // Such parts fit QR codes of at most version 10 in their alphanumeric mode.
        expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(395);
      }),
      { numRuns: 20 },
    );
  });
});

/** Published with the reference implementation (bc-ur, `test_ur_encoder`). */
const PUBLISHED = [
  '1-9/lpadascfadaxcywenbpljkhdcahkadaemejtswhhylkepmykhhtsytsnoyoyaxaedsuttydmmhhpktpmsrjtdkgslpgh',
  '2-9/lpaoascfadaxcywenbpljkhdcagwdpfnsboxgwlbaawzuefywkdplrsrjynbvygabwjldapfcsgmghhkhstlrdcxaefz',
  '3-9/lpaxascfadaxcywenbpljkhdcahelbknlkuejnbadmssfhfrdpsbiegecpasvssovlgeykssjykklronvsjksopdzmol',
  '4-9/lpaaascfadaxcywenbpljkhdcasotkhemthydawydtaxneurlkosgwcekonertkbrlwmplssjtammdplolsbrdzcrtas',
  '5-9/lpahascfadaxcywenbpljkhdcatbbdfmssrkzmcwnezelennjpfzbgmuktrhtejscktelgfpdlrkfyfwdajldejokbwf',
  '6-9/lpamascfadaxcywenbpljkhdcackjlhkhybssklbwefectpfnbbectrljectpavyrolkzczcpkmwidmwoxkilghdsowp',
  '7-9/lpatascfadaxcywenbpljkhdcavszmwnjkwtclrtvaynhpahrtoxmwvwatmedibkaegdosftvandiodagdhthtrlnnhy',
  '8-9/lpayascfadaxcywenbpljkhdcadmsponkkbbhgsoltjntegepmttmoonftnbuoiyrehfrtsabzsttorodklubbuyaetk',
  '9-9/lpasascfadaxcywenbpljkhdcajskecpmdckihdyhphfotjojtfmlnwmadspaxrkytbztpbauotbgtgtaeaevtgavtny',
  '10-9/lpbkascfadaxcywenbpljkhdcahkadaemejtswhhylkepmykhhtsytsnoyoyaxaedsuttydmmhhpktpmsrjtwdkiplzs',
  '11-9/lpbdascfadaxcywenbpljkhdcahelbknlkuejnbadmssfhfrdpsbiegecpasvssovlgeykssjykklronvsjkvetiiapk',
  '12-9/lpbnascfadaxcywenbpljkhdcarllaluzmdmgstospeyiefmwejlwtpedamktksrvlcygmzemovovllarodtmtbnptrs',
  '13-9/lpbtascfadaxcywenbpljkhdcamtkgtpknghchchyketwsvwgwfdhpgmgtylctotzopdrpayoschcmhplffziachrfgd',
  '14-9/lpbaascfadaxcywenbpljkhdcapazewnvonnvdnsbyleynwtnsjkjndeoldydkbkdslgjkbbkortbelomueekgvstegt',
  '15-9/lpbsascfadaxcywenbpljkhdcaynmhpddpzmversbdqdfyrehnqzlugmjzmnmtwmrouohtstgsbsahpawkditkckynwt',
  '16-9/lpbeascfadaxcywenbpljkhdcawygekobamwtlihsnpalnsghenskkiynthdzotsimtojetprsttmukirlrsbtamjtpd',
  '17-9/lpbyascfadaxcywenbpljkhdcamklgftaxykpewyrtqzhydntpnytyisincxmhtbceaykolduortotiaiaiafhiaoyce',
  '18-9/lpbgascfadaxcywenbpljkhdcahkadaemejtswhhylkepmykhhtsytsnoyoyaxaedsuttydmmhhpktpmsrjtntwkbkwy',
  '19-9/lpbwascfadaxcywenbpljkhdcadekicpaajootjzpsdrbalpeywllbdsnbinaerkurspbncxgslgftvtsrjtksplcpeo',
  '20-9/lpbbascfadaxcywenbpljkhdcayapmrleeleaxpasfrtrdkncffwjyjzgyetdmlewtkpktgllepfrltataztksmhkbot',
];
