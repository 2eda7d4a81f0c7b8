import Foundation
import Predicates
import TestSupport
import Testing

/// Formats found in the code of others. The suite runs when the environment names the folder that holds them.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["COREDATA_MATERIAL"] != nil)) struct MaterialTests {
    /// Formats that are in no version of the language, and why.
    private static let invalid: [String: String] = [
        "label == '": "a piece of source code that goes on after the quotation mark",
        "label != '": "a piece of source code that goes on after the quotation mark",
        "label MATCHES '": "a piece of source code that goes on after the quotation mark",
        "value == '": "a piece of source code that goes on after the quotation mark",
        "1\\t+1": "the escape of a string literal, which is a tab before the parser sees it",
        "? = 'ABC'": "a question mark, which Apple's guide says is not a token",
    ]
    /// Expressions among the predicates: they have no comparison.
    private static let expressions: Set<String> = [
        "SUBQUERY(SELF, $a, $a.@count > 42)",
        "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"BookV2toBookV3\", $source.books)",
        "FUNCTION($entityPolicy, %@, $source.%@)",
        "FUNCTION('; ', 'stringByAppendingString:', level_id)",
    ]

    @Test func everyFormatIsReadPrintedAndReadAgain() throws {
        let folder = ProcessInfo.processInfo.environment["COREDATA_MATERIAL"] ?? ""
        let lines = try String(contentsOfFile: folder + "/predicates.tsv", encoding: .utf8).split(separator: "\n").dropFirst()
        var predicates = 0
        var expressions = 0
        var refused: Set<String> = []
        for line in lines {
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
            let format = String(columns[0])
            let arguments = PlaceholderArguments.make(for: format)
            if MaterialTests.invalid[format] != nil {
                refused.insert(format)
                #expect(throws: InvalidPredicateError.self, "\(format)") { try PredicateTree(parsing: format, argumentArray: arguments) }
            } else if columns[1].hasPrefix("expr") || MaterialTests.expressions.contains(format) {
                expressions += 1
                let tree = try ExpressionTree(parsing: format, argumentArray: arguments)
                try expect(ExpressionTree(parsing: tree.description), equals: tree, "\(format) is printed as \(tree)")
                expect(NSExpression(tree: tree).description, equals: tree.description)
            } else {
                predicates += 1
                let tree = try PredicateTree(parsing: format, argumentArray: arguments)
                let again = try PredicateTree(parsing: tree.description)
                expect(again, equals: tree, "\(format) is printed as \(tree)")
                expect(again.description, equals: tree.description)
                expect(NSPredicate(format: format, argumentArray: arguments.map { $0 ?? NSNull() }).formatString, equals: tree.description)
            }
        }
        print("everyFormatIsReadPrintedAndReadAgain: \(predicates) predicates, \(expressions) expressions, \(refused.count) invalid")
        expect(refused.count, equals: MaterialTests.invalid.count)
        let unescaped = try ExpressionTree(parsing: "1\t+1")
        expect(unescaped, equals: .arithmetic(.add, .constant(.int64(1)), .constant(.int64(1))))
    }

    /// Compiled models are keyed archives of Apple's own making; the predicates in their fetch request templates are read one by one.
    @Test func predicatesOfCompiledModelsAreRead() throws {
        let folder = ProcessInfo.processInfo.environment["COREDATA_MATERIAL"] ?? ""
        let files = try #require(FileManager.default.enumerator(atPath: folder)).compactMap { $0 as? String }
        var formats: [String] = []
        var models = 0
        for file in files where file.hasSuffix(".mom") {
            models += 1
            let data = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + file))
            formats += try CompiledModel(data).predicates().map(\.formatString)
        }
        print("predicatesOfCompiledModelsAreRead: \(formats.count) predicates in \(models) models: \(Set(formats).sorted())")
        #expect(!formats.isEmpty)
        for format in formats { try expect(PredicateTree(parsing: format).description, equals: format) }
    }
}

/// A compiled model, as the keyed archive that it is.
private struct CompiledModel {
    private let archive: [String: Any]
    private let objects: [Any]

    init(_ data: Data) throws {
        archive = try #require(PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
        objects = try #require(archive["$objects"] as? [Any])
    }

    /// Every predicate in the model, read by ``PredicateArchive`` as the root of an archive of its own.
    ///
    /// References are by place, so a predicate becomes the root by being put in the place of the model; the names of classes that no predicate
    /// needs are taken out, as the reader refuses them.
    func predicates() throws -> [NSPredicate] {
        let pruned = objects.map { object -> Any in
            guard let name = (object as? [String: Any])?["$classname"] as? String else { return object }
            let isKnown = name.hasSuffix("Predicate") || name.hasSuffix("Expression") || name.hasSuffix("PredicateOperator")
            return isKnown || ["NSArray", "NSMutableArray", "NSString", "NSNumber", "NSDate"].contains(name) ? object : "$null"
        }
        return try objects.indices.filter(isPredicate).map { index in
            var objects = pruned
            objects[1] = objects[index]
            var own = archive
            own["$objects"] = objects
            return try PredicateArchive.predicate(from: PropertyListSerialization.data(fromPropertyList: own, format: .binary, options: 0))
        }
    }

    private func isPredicate(_ index: Int) -> Bool {
        let keys = (objects[index] as? [String: Any]).map { Set($0.keys) } ?? []
        return keys.contains("NSPredicateOperator") || keys.contains("NSCompoundPredicateType")
    }
}
