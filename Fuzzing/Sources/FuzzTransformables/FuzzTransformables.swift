import Foundation
import FuzzDriver
import ObjectGraph

@main struct FuzzTransformables {
    static func main() { fuzz { fuzzTransformables($0, $1) } }
}

/// A class that the transformer allows, with a field of every kind.
final class Allowed: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    let name: String
    let next: Allowed?
    let others: [String]
    let anything: Any?
    let number: Int
    let real: Double
    let flag: Bool

    init(_ name: String, next: Allowed?) {
        self.name = name
        self.next = next
        (others, anything, number, real, flag) = (["a", "b"], ["c": [1, 2.5]] as NSDictionary, 5, 1.5, true)
    }

    required init?(coder: NSCoder) {
        name = coder.decodeObject(of: NSString.self, forKey: "name") as String? ?? ""
        next = coder.decodeObject(of: Allowed.self, forKey: "next")
        others = coder.decodeObject(of: [NSArray.self, NSString.self], forKey: "others") as? [String] ?? []
        anything = coder.decodeObject(forKey: "anything")
        number = coder.decodeInteger(forKey: "number")
        real = coder.decodeDouble(forKey: "real")
        flag = coder.decodeBool(forKey: "flag")
    }

    func encode(with coder: NSCoder) {
        coder.encode(name as NSString, forKey: "name")
        coder.encode(next, forKey: "next")
        coder.encode(others as NSArray, forKey: "others")
        coder.encode(anything, forKey: "anything")
        coder.encode(number, forKey: "number")
        coder.encode(real, forKey: "real")
        coder.encode(flag, forKey: "flag")
    }
}

/// A class that nothing allows: making one is a finding.
final class Forbidden: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    override init() { super.init() }
    required init?(coder: NSCoder) { fatalError("A class was instantiated that is not allowed") }
    func encode(with coder: NSCoder) {}
}

final class Transformer: NSSecureUnarchiveFromDataTransformer {
    override class var allowedTopLevelClasses: [AnyClass] { super.allowedTopLevelClasses + [Allowed.self] }
}

// Used by the one thread of the fuzzer.
nonisolated(unsafe) private let transformer = Transformer()

/// Archives of values of every type and of both classes, in both formats.
private let seeds: [Data] = {
    let values: [Any] = [
        ["a", 1, 2.5, true, Data([1]), Date(), UUID(), URL(string: "https://example.org/a")!, NSNull(), NSDecimalNumber(string: "1.5")]
            as [Any],
        ["a": ["b": ["c": [1, 2, 3]]]], Set(["x", "y"]), [Allowed("a", next: Allowed("b", next: nil)), Allowed("d", next: nil)],
    ]
    var archives = values.compactMap { transformer.reverseTransformedValue($0) as? Data }
    for value in [
        NSSet(array: ["a", "b"]), NSOrderedSet(array: ["a", 1]), NSCountedSet(array: ["a", "a"]), [Forbidden()] as NSArray,
        Allowed("x", next: nil),
    ] {
        if let data = try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: false) { archives.append(data) }
    }
    return archives
        + archives.compactMap { data in
            guard let list = try? PropertyListSerialization.propertyList(from: data, format: nil) else { return nil }
            return try? PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
        }
}()

/// Reads bytes as the archive of a transformable value, and archives that were written and then changed. Reading gives a value or nil; a value is written
/// and read again.
///
/// libFuzzer looks for this function when it links, though it is handed the same one by ``FuzzTransformables/main()``.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTransformables(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: start, count: count)
    read(Data(bytes))
    // Bytes at random are hardly ever an archive: the rest of the input says which bytes of a real one change.
    guard let first = bytes.first else { return 0 }
    var archive = seeds[Int(first) % seeds.count]
    var index = 1
    while index + 2 < bytes.count {
        let place = (Int(bytes[index]) << 8 | Int(bytes[index + 1])) % archive.count
        archive[place] = bytes[index + 2]
        index += 3
    }
    read(archive)
    return 0
}

private func read(_ data: Data) {
    guard let value = transformer.transformedValue(data) else { return }
    guard let again = transformer.reverseTransformedValue(value) as? Data else { return }
    guard transformer.transformedValue(again) != nil else { fatalError("\(value) is archived, and not read again") }
}
