import Foundation
import Predicates

/// Reads bytes as an archive, and archives that were written and then changed. Reading may throw an ``InvalidPredicateError``, and nothing worse; what
/// is read must be written and read again as it was.
func checkArchive(_ bytes: UnsafeBufferPointer<UInt8>) {
    readArchive(Data(bytes))
    // Bytes at random are hardly ever an archive: the rest of the input says which bytes of a real one change.
    guard let first = bytes.first else { return }
    var archive = seeds[Int(first) % seeds.count]
    var index = 1
    while index + 2 < bytes.count {
        let place = (Int(bytes[index]) << 8 | Int(bytes[index + 1])) % archive.count
        archive[place] = bytes[index + 2]
        index += 3
    }
    readArchive(archive)
}

private let seeds: [Data] =
    [
        "a == 1", "a.b IN {1, 'x', nil} AND NOT c LIKE[cd] 'x*'", "SUBQUERY(a, $x, $x.b > 1).@count > 0",
        "TERNARY(a == 1, 2, b) == c[FIRST]",
        "a UNION {1} == b", "ANY a.b BETWEEN {1, 2.5} OR TRUEPREDICATE", "FETCH($r, $c, YES) == ($x := 5)", "CAST(a, 'NSDate') < now()",
    ].compactMap { try? PredicateArchive.data(of: NSPredicate(format: $0)) } + constants.map { inXML($0) + [$0] }.joined()

/// Archives with constants of every type.
private let constants: [Data] = [
    .decimal(Decimal(1234) / 100), .date(Date(timeIntervalSinceReferenceDate: 1.25)), .data(Data([0, 1, 255])), .uuid(UUID()),
    .url(URL(string: "https://example.org/a")!), .array([.int64(1), .string("x"), .null, .array([.string("ą")])]),
    .set([.string("x"), .null]),
    .bool(true), .double(1.5),
].compactMap { try? PredicateArchive.data(of: NSPredicate(tree: .compare(.path("a"), .equal, .constant($0)))) }

/// The archive as XML.
private func inXML(_ data: Data) -> [Data] {
    guard let list = try? PropertyListSerialization.propertyList(from: data, format: nil),
        let text = try? PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
    else { return [] }
    return [text]
}

private func readArchive(_ data: Data) {
    _ = try? PredicateArchive.expression(from: data)
    do {
        let predicate = try PredicateArchive.predicate(from: data)
        guard let again = try? PredicateArchive.data(of: predicate) else { return }
        let read = try PredicateArchive.predicate(from: again)
        // A number that is none equals nothing.
        guard try read.tree() == predicate.tree() || read.formatString == predicate.formatString else {
            fatalError("\(predicate.formatString) is archived as \(read.formatString)")
        }
    } catch is InvalidPredicateError {
        return
    } catch {
        fatalError("\(error)")
    }
}
