package import Foundation

extension Data {
    /// Changes, takes out or doubles some bytes.
    package mutating func damage(using random: inout some RandomNumberGenerator) {
        let place = Int.random(in: 0..<count, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: self[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: self[place] = self[Int.random(in: 0..<count, using: &random)]
        case 2: self[place] &+= 1
        case 3: self[place] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
        case 4: remove(at: place)
        case 5: insert(self[place], at: place)
        case 6: swapAt(place, Int.random(in: 0..<count, using: &random))
        // The last bytes of a binary list say where all others are.
        default: self[Swift.max(0, count - 1 - place % 32)] = UInt8.random(in: 0...255, using: &random)
        }
    }
}
