import Foundation
import Platform
import TestSupport
import Testing

/// Every type of the sources that is an error, found by reading them: a new one cannot be forgotten.
@Suite("Types of errors") struct ErrorTypeTests {
    private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("Sources")

    /// Errors that no program gets: the file that turns each into an error with a text, or takes it for an answer.
    private static let caught: [String: String] = [
        "ArchiveClassRefusal": "ObjectGraph/Model/Transformers/AttributeArchive.swift",
        "AttributeArchive.Damage": "SQLiteStore/Rows/SQLArchives.swift",
        "BinaryPropertyList.FormatError": "ObjectGraph/Model/Transformers/AttributeArchive.swift",
        "BinaryStoreList.Failure": "ArchiveStores/Binary/BinaryStore.swift",
        "BinaryStoreRows.Failure": "ArchiveStores/Binary/BinaryStore.swift",
        "CombinedSave.ThrownByPart": "RemoteStore/Combining/CombinedSave.swift",
        "Console.Closed": "StoreCommands/Commands/CommandRun.swift",
        "DateMistake": "StoreCommands/Querying/HistoryReport.swift", "DatePattern.Mistake": "FileStores/Values/ValueCodec.swift",
        "ServiceProbe.OutOfRequests": "WebBackend/Verifying/Verification.swift",
        "ServiceProbe.Refusal": "WebBackend/Verifying/Verification.swift",
        "ServiceProbe.Unwritable": "WebBackend/Verifying/Verification.swift", "Trial.Untried": "WebBackend/Verifying/Verification.swift",
        "DeclarationMistake": "ObjectGraph/Opening/NSManagedObjectModel+Declarations.swift",
        "ExchangeMistake": "StoreCommands/Exchanging/StoreImport.swift",
        "AttributeValue.Mistake": "StoreCommands/Exchanging/StoreImport.swift",
        "ExplorerError": "Explorer/Session/ExplorerError.swift", "FileFailure": "RemoteStore/Outbox/Outbox+Uploads.swift",
        "FileMistake": "FileStores/Store/RecordStore.swift", "FileProblem": "WebBackend/Files/WebServiceFile.swift",
        "FileReplacement.OthersHaveWritten": "FileStores/Store/RecordStore+Saving.swift",
        "IncompleteSave": "ObjectGraph/Contexts/Coordinator/SaveReport.swift",
        "MappingModelDocument.FormatError": "Migration/Mapping/Files/MappingModelFile.swift",
        // The tools print the description and end.
        "ArgumentProblem": "ManagedAccessorsTool/main.swift", "ModelDiagnostic": "ModelCompilerTool/ModelCompilerTool.swift",
        "SourceProblem": "ManagedSources/Writing/AccessorWriter.swift", "TypeProblem": "ManagedSources/Writing/AccessorWriter.swift",
        "NodeMistake": "ObjectGraph/IncrementalStore/IncrementalContract.swift",
        "PartialSave": "ObjectGraph/Contexts/NSManagedObjectContext+Saving.swift",
        "SQLReaderPool.NoReader": "SQLiteStore/Store/SQLiteStore.swift", "SQLSave.Mismatch": "SQLiteStore/Store/SQLiteStore+Saving.swift",
        "SQLSave.UpdateMismatch": "SQLiteStore/Store/SQLiteStore+Saving.swift",
        "ServerError": "PostgreSQLStore/Store/PostgreSQLStore+Saving.swift",
        "StatusCheck.Unknown": "WebTransport/Network/TransportProblem.swift",
        "StoreConflicts": "ObjectGraph/Contexts/Coordinator/SaveReport.swift", "TextMistake": "FileStores/Store/CSVFileStore.swift",
        "WebAddress.Problem": "WebTransport/Client/WebClient.swift", "XMLReader.FormatError": "StoreCommands/Opening/XMLStoreModel.swift",
        "XMLScanner.FormatError": "Migration/Mapping/Files/MappingModelDocument.swift",
        "XMLStoreScanner.Failure": "ArchiveStores/XML/XMLStoreDocument.swift",
        "XMLStoreText.Mistake": "ArchiveStores/XML/XMLStoreScanner.swift",
    ]

    private struct Found {
        var conformances: [String: Set<String>] = [:]
        var descriptions: Set<String> = []
    }

    /// Reads which types are errors, and which of them have an `errorDescription`.
    private static func read(_ text: String, into found: inout Found) throws {
        let declaration = try Regex(
            #"^( *)(?:(?:public|package|private|fileprivate|internal|final|indirect|@_spi\(\w+\)) )*(struct|class|enum|actor|extension|protocol) ([\w.]+)(?:<[^>]*>)?(?:: ([^{]*))? *\{"#
        )
        var open: [(indent: Int, name: String)] = []
        var isQuoted = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.contains("\"\"\"") { isQuoted.toggle() }
            if isQuoted { continue }
            let indent = line.prefix { $0 == " " }.count
            if !line.allSatisfy(\.isWhitespace) { open.removeAll { $0.indent >= indent && !line.dropFirst(indent).hasPrefix("}") } }
            if line.contains("var errorDescription: String?"), let inner = open.last { found.descriptions.insert(inner.name) }
            guard let match = try declaration.prefixMatch(in: line), match[2].substring != "protocol", let name = match[3].substring else {
                continue
            }
            let outer = open.last { $0.indent < indent }.map { $0.name + "." } ?? ""
            open.append((indent, outer + name))
            for part in (match[4].substring ?? "").split(separator: " where ").first?.split(separator: ",") ?? [] {
                found.conformances[outer + name, default: []].insert(part.trimmingCharacters(in: .whitespaces))
            }
        }
    }

    private static func all() throws -> Found {
        var found = Found()
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        for case let file as URL in files where file.pathExtension == "swift" {
            try read(String(contentsOf: file, encoding: .utf8), into: &found)
        }
        return found
    }

    @Test("Every type that is an error describes itself, or is turned into one that does before a program gets it")
    func described() throws {
        let found = try Self.all()
        let kinds: Set = ["Error", "any Error", "LocalizedError", "CustomNSError", "PassingError", "StoreError"]
        let errors = found.conformances.filter { !$0.value.isDisjoint(with: kinds) }.map(\.key)
        // What is known to be there is found, also where it is nested or conforms by an extension.
        #expect(errors.contains("WebServiceError") && errors.contains("EventStreamParser.TooLarge") && errors.contains("TransportError"))
        #expect(errors.count > 40, "\(errors.count)")
        for name in errors.sorted() where !found.descriptions.contains(name) {
            guard let place = Self.caught[name] else {
                Issue.record("“\(name)” is an error without errorDescription, and nothing is said to catch it")
                continue
            }
            let file = Self.sources.appendingPathComponent(place)
            let text = try #require(try? String(contentsOf: file, encoding: .utf8), "\(name): there is no \(place)")
            #expect(text.contains(name.split(separator: ".").last ?? "?") || text.contains("catch"), "\(name) is not caught in \(place)")
        }
        for name in Self.caught.keys.sorted() {
            #expect(errors.contains(name) && !found.descriptions.contains(name), "“\(name)” is no error any more, or describes itself")
        }
    }

    @Test("An error that describes itself only as a text, or not at all, would be found") func forgotten() throws {
        var found = Found()
        try Self.read(
            """
            struct Outer {
                /// One.
                enum Forgotten: String, Error { case one }
                struct Said: LocalizedError {
                    var errorDescription: String? { "It is said." }
                }
            }
            extension Late: Error {}
            public protocol Kind: Error {}
            """, into: &found)
        expect(
            Set(found.conformances.filter { $0.value.contains("Error") || $0.value.contains("LocalizedError") }.keys),
            equals: [
                "Outer.Forgotten", "Outer.Said", "Late",
            ])
        expect(found.descriptions, equals: ["Outer.Said"])
    }
}
