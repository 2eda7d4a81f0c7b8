import Foundation
import FuzzDriver
import Predicates

/// Whether archives are fuzzed instead of formats.
let fuzzesArchives = ProcessInfo.processInfo.environment["FUZZ"] == "archives"

@main struct FuzzPredicates {
    static func main() { fuzz { fuzzPredicates($0, $1) } }
}

/// Reads bytes as a format. What is read must print, read back as an equal tree, and print the same again; whatever else happens is a bug.
///
/// libFuzzer looks for this function when it links, though it is handed the same one by ``FuzzPredicates/main()``.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPredicates(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    if fuzzesArchives {
        checkArchive(UnsafeBufferPointer(start: bytes, count: count))
        return 0
    }
    let format = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    // More arguments than placeholders is an error, so the format itself says how many there are.
    let placeholders = format.utf8.reduce(0) { $0 + ($1 == UInt8(ascii: "%") ? 1 : 0) }
    for arguments in [[], Array(repeating: "k.e", count: placeholders), Array(repeating: 7, count: placeholders)] as [[Any]] {
        check(format, arguments)
        if placeholders == 0 { break }
    }
    return 0
}

private func check(_ format: String, _ arguments: [Any]) {
    if let tree = reading(format, { try PredicateTree(parsing: format, argumentArray: arguments) }) {
        let printed = tree.description
        guard let again = reading(printed, { try PredicateTree(parsing: printed) }) else {
            fatalError("\(format) prints as \(printed), which does not read")
        }
        require(again == tree, "\(format) prints as \(printed), which reads as \(again)")
        require(again.hashValue == tree.hashValue, "\(format) hashes in two ways")
        // Compiling and evaluating may throw, and nothing more.
        _ = try? NSPredicate(tree: tree).matches(["a": 1, "b": "x"] as [String: Any])
    }
    if let tree = reading(format, { try ExpressionTree(parsing: format, argumentArray: arguments) }) {
        let printed = tree.description
        guard let again = reading(printed, { try ExpressionTree(parsing: printed) }) else {
            fatalError("\(format) prints as \(printed), which does not read")
        }
        require(again == tree, "\(format) prints as \(printed), which reads as \(again)")
    }
}

/// The value, or nil after an error, which must show its place.
private func reading<Value>(_ format: String, _ body: () throws -> Value) -> Value? {
    do {
        return try body()
    } catch let error as InvalidPredicateError {
        require(error.position != nil && error.expected != nil && error.description.contains("^"), "\(error)")
        return nil
    } catch {
        fatalError("\(error)")
    }
}

/// A precondition whose message is printed in release builds too.
private func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { fatalError(message()) }
}
