internal import Foundation

/// The hash functions of Core Data's metadata: SHA-256 and SHA-512 (FIPS 180-4).
///
/// Implemented here because swift-crypto would add BoringSSL to every program with a model.
package enum SHA2 {
    /// Returns the SHA-256 of bytes.
    package static func sha256(_ bytes: [UInt8]) -> [UInt8] { Array(sha256(Data(bytes))) }

    static func sha256(_ data: Data) -> Data {
        var (hash, words) = (shortInitial, [UInt32](repeating: 0, count: 64))
        eachBlock(of: data, size: 64) { mix($0, &hash, &words, shortConstants) }
        return Data(hash.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word &>> (24 - 8 * $0)) } })
    }

    static func sha512(_ data: Data) -> Data {
        var (hash, words) = (initial, [UInt64](repeating: 0, count: 80))
        eachBlock(of: data, size: 128) { mix($0, &hash, &words, constants) }
        return Data(hash.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word &>> (56 - 8 * $0)) } })
    }

    /// Calls `body` with each block of the data, padded with a bit, zeros and its length.
    private static func eachBlock(of data: Data, size: Int, _ body: (UnsafeRawPointer) -> Void) {
        let length = (data.count + 1 + size / 8 + size - 1) / size * size
        var message = [UInt8](data)
        message.append(0x80)
        message += [UInt8](repeating: 0, count: length - message.count)
        message.withUnsafeMutableBytes { message in
            message.storeBytes(of: (UInt64(data.count) * 8).bigEndian, toByteOffset: length - 8, as: UInt64.self)
            guard let start = message.baseAddress else { return }
            for offset in stride(from: 0, to: length, by: size) { body(start + offset) }
        }
    }

    // The loops make no calls, so they are fast without optimization, too: tests and programs under development hash many models.

    /// Mixes a block into a hash of eight words; `words` has place for 64.
    private static func mix(
        _ block: UnsafeRawPointer, _ hash: UnsafeMutablePointer<UInt32>, _ words: UnsafeMutablePointer<UInt32>,
        _ constants: UnsafePointer<UInt32>
    ) {
        var index = 0
        while index < 16 {
            words[index] = UInt32(bigEndian: block.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self))
            index &+= 1
        }
        while index < 64 {
            let (early, late) = (words[index &- 15], words[index &- 2])
            let first = (early &>> 7 | early &<< 25) ^ (early &>> 18 | early &<< 14) ^ early &>> 3
            let second = (late &>> 17 | late &<< 15) ^ (late &>> 19 | late &<< 13) ^ late &>> 10
            words[index] = words[index &- 16] &+ first &+ words[index &- 7] &+ second
            index &+= 1
        }
        // Eight variables: an array for each round would cost more than the hash.
        var (a, b, c, d, e, f, g, h) = (hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6], hash[7])
        index = 0
        while index < 64 {
            let high = (e &>> 6 | e &<< 26) ^ (e &>> 11 | e &<< 21) ^ (e &>> 25 | e &<< 7)
            let one = h &+ high &+ ((e & f) ^ (~e & g)) &+ constants[index] &+ words[index]
            let low = (a &>> 2 | a &<< 30) ^ (a &>> 13 | a &<< 19) ^ (a &>> 22 | a &<< 10)
            let two = low &+ ((a & b) ^ (a & c) ^ (b & c))
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ one, c, b, a, one &+ two)
            index &+= 1
        }
        hash[0] &+= a
        hash[1] &+= b
        hash[2] &+= c
        hash[3] &+= d
        hash[4] &+= e
        hash[5] &+= f
        hash[6] &+= g
        hash[7] &+= h
    }

    /// Mixes a block into a hash of eight words; `words` has place for 80.
    private static func mix(
        _ block: UnsafeRawPointer, _ hash: UnsafeMutablePointer<UInt64>, _ words: UnsafeMutablePointer<UInt64>,
        _ constants: UnsafePointer<UInt64>
    ) {
        var index = 0
        while index < 16 {
            words[index] = UInt64(bigEndian: block.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self))
            index &+= 1
        }
        while index < 80 {
            let (early, late) = (words[index &- 15], words[index &- 2])
            let first = (early &>> 1 | early &<< 63) ^ (early &>> 8 | early &<< 56) ^ early &>> 7
            let second = (late &>> 19 | late &<< 45) ^ (late &>> 61 | late &<< 3) ^ late &>> 6
            words[index] = words[index &- 16] &+ first &+ words[index &- 7] &+ second
            index &+= 1
        }
        // Eight variables: an array for each round would cost more than the hash.
        var (a, b, c, d, e, f, g, h) = (hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6], hash[7])
        index = 0
        while index < 80 {
            let high = (e &>> 14 | e &<< 50) ^ (e &>> 18 | e &<< 46) ^ (e &>> 41 | e &<< 23)
            let one = h &+ high &+ ((e & f) ^ (~e & g)) &+ constants[index] &+ words[index]
            let low = (a &>> 28 | a &<< 36) ^ (a &>> 34 | a &<< 30) ^ (a &>> 39 | a &<< 25)
            let two = low &+ ((a & b) ^ (a & c) ^ (b & c))
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ one, c, b, a, one &+ two)
            index &+= 1
        }
        hash[0] &+= a
        hash[1] &+= b
        hash[2] &+= c
        hash[3] &+= d
        hash[4] &+= e
        hash[5] &+= f
        hash[6] &+= g
        hash[7] &+= h
    }

    /// The first 64 bits of the fractional parts of the square roots of the first 8 primes, and of the cube roots of the first 80;
    /// SHA-256 uses the upper halves of the first.
    private static let initial: [UInt64] = [
        0x6a09e667_f3bcc908, 0xbb67ae85_84caa73b, 0x3c6ef372_fe94f82b, 0xa54ff53a_5f1d36f1,
        0x510e527f_ade682d1, 0x9b05688c_2b3e6c1f, 0x1f83d9ab_fb41bd6b, 0x5be0cd19_137e2179,
    ]
    private static let shortInitial: [UInt32] = initial.map { UInt32($0 >> 32) }
    private static let shortConstants: [UInt32] = constants.prefix(64).map { UInt32($0 >> 32) }
    private static let constants: [UInt64] = [
        0x428a2f98_d728ae22, 0x71374491_23ef65cd, 0xb5c0fbcf_ec4d3b2f, 0xe9b5dba5_8189dbbc,
        0x3956c25b_f348b538, 0x59f111f1_b605d019, 0x923f82a4_af194f9b, 0xab1c5ed5_da6d8118,
        0xd807aa98_a3030242, 0x12835b01_45706fbe, 0x243185be_4ee4b28c, 0x550c7dc3_d5ffb4e2,
        0x72be5d74_f27b896f, 0x80deb1fe_3b1696b1, 0x9bdc06a7_25c71235, 0xc19bf174_cf692694,
        0xe49b69c1_9ef14ad2, 0xefbe4786_384f25e3, 0x0fc19dc6_8b8cd5b5, 0x240ca1cc_77ac9c65,
        0x2de92c6f_592b0275, 0x4a7484aa_6ea6e483, 0x5cb0a9dc_bd41fbd4, 0x76f988da_831153b5,
        0x983e5152_ee66dfab, 0xa831c66d_2db43210, 0xb00327c8_98fb213f, 0xbf597fc7_beef0ee4,
        0xc6e00bf3_3da88fc2, 0xd5a79147_930aa725, 0x06ca6351_e003826f, 0x14292967_0a0e6e70,
        0x27b70a85_46d22ffc, 0x2e1b2138_5c26c926, 0x4d2c6dfc_5ac42aed, 0x53380d13_9d95b3df,
        0x650a7354_8baf63de, 0x766a0abb_3c77b2a8, 0x81c2c92e_47edaee6, 0x92722c85_1482353b,
        0xa2bfe8a1_4cf10364, 0xa81a664b_bc423001, 0xc24b8b70_d0f89791, 0xc76c51a3_0654be30,
        0xd192e819_d6ef5218, 0xd6990624_5565a910, 0xf40e3585_5771202a, 0x106aa070_32bbd1b8,
        0x19a4c116_b8d2d0c8, 0x1e376c08_5141ab53, 0x2748774c_df8eeb99, 0x34b0bcb5_e19b48a8,
        0x391c0cb3_c5c95a63, 0x4ed8aa4a_e3418acb, 0x5b9cca4f_7763e373, 0x682e6ff3_d6b2b8a3,
        0x748f82ee_5defb2fc, 0x78a5636f_43172f60, 0x84c87814_a1f0ab72, 0x8cc70208_1a6439ec,
        0x90befffa_23631e28, 0xa4506ceb_de82bde9, 0xbef9a3f7_b2c67915, 0xc67178f2_e372532b,
        0xca273ece_ea26619c, 0xd186b8c7_21c0c207, 0xeada7dd6_cde0eb1e, 0xf57d4f7f_ee6ed178,
        0x06f067aa_72176fba, 0x0a637dc5_a2c898a6, 0x113f9804_bef90dae, 0x1b710b35_131c471b,
        0x28db77f5_23047d84, 0x32caab7b_40c72493, 0x3c9ebe0a_15c9bebc, 0x431d67c4_9c100d4c,
        0x4cc5d4be_cb3e42b6, 0x597f299c_fc657e2a, 0x5fcb6fab_3ad6faec, 0x6c44198c_4a475817,
    ]
}
