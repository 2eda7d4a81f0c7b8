/// The data of the SQLite rows: the same values, keys and queries for every side and in every run.
struct Sample {
    /// One query of “filter, sort, limit 100”: rows whose `i1` is above `number` and whose `t0` begins with `prefix`.
    struct Question {
        let number: Int
        let prefix: String
        /// The first string after all strings with the prefix.
        let end: String
    }

    let values: [Values]
    /// Primary keys in random order.
    let keys: [Int64]
    let questions: [Question]
    var folderCount: Int { values.count / Self.documentsPerFolder }

    static let documentsPerFolder = 10

    init(count: Int) {
        values = Values.make(count)
        var state: UInt64 = 88_172_645_463_325_252
        keys = (0..<min(count, 10_000)).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int64(state % UInt64(count)) + 1
        }
        questions = (0..<1000).map { number in
            let first = UInt8(ascii: "a") + UInt8(number % 26)
            let second = UInt8(ascii: "a") + UInt8(number / 26 % 4)
            return Question(
                number: 20 + number * 13 % 60, prefix: String(decoding: [first, second], as: UTF8.self),
                end: String(decoding: [first, second + 1], as: UTF8.self))
        }
    }

    /// Returns the folder of a document. The documents of a folder are scattered, so that reading each folder's does not benefit from
    /// locality.
    func folder(ofDocument number: Int) -> Int { number % folderCount + 1 }

    static func folderName(_ number: Int) -> String { "Folder \(number)" }
    static func documentName(_ number: Int) -> String { "Document number \(number)" }
}

/// An item of any side, to add up what was read.
protocol ReadableItem {
    var i0: Int { get }
    var i1: Int { get }
    var i2: Int { get }
    var i3: Int { get }
    var i4: Int { get }
    var t0: String { get }
    var t1: String { get }
    var t2: String { get }
    var t3: String { get }
    var t4: String { get }
}

extension ReadableItem {
    /// A sum over every property.
    @inline(__always) var sumOfAll: Int {
        let texts = t0.utf8.count &+ t1.utf8.count &+ t2.utf8.count &+ t3.utf8.count &+ t4.utf8.count
        return i0 &+ i1 &+ i2 &+ i3 &+ i4 &+ texts
    }
    /// A sum over two properties.
    @inline(__always) var sumOfTwo: Int { i1 &+ t1.utf8.count }
    /// A value that depends on the order of rows, but not on that of rows with equal strings.
    @inline(__always) var lastOfText: Int { Int(t1.utf8.last ?? 0) }
}

extension Item: ReadableItem {}
extension Values: ReadableItem {}

extension Collection where Element: ReadableItem {
    @inline(__always) var sumOfAll: Int { reduce(0) { $0 &+ $1.sumOfAll } }
    @inline(__always) var sumOfTwo: Int { reduce(0) { $0 &+ $1.sumOfTwo } }
    @inline(__always) var orderSum: Int {
        var sum = 0
        for (place, item) in enumerated() { sum &+= (place &+ 1) &* item.lastOfText }
        return sum
    }
}
