import CoreData
import TestSupport
import Testing

/// Models found in the code of others. The suite runs when the environment names the folder that holds them.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["COREDATA_MATERIAL"] != nil)) struct MaterialModelTests {
    private static var folder: URL { URL(fileURLWithPath: ProcessInfo.processInfo.environment["COREDATA_MATERIAL"] ?? "") }

    private static var models: URL {
        let below = folder.appendingPathComponent("models")
        return FileManager.default.fileExists(atPath: below.path) ? below : folder
    }

    /// Everything below the folder whose name ends so.
    private static func files(ending: String) -> [URL] {
        let root = models
        let paths = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
        return paths.filter { $0.hasSuffix(ending) }.sorted().map { root.appendingPathComponent($0) }
    }

    /// Models from before Xcode 4 whose user info holds arrays and dictionaries of the sync services; the XML has texts alone.
    private static let syncing = ["RKTwitterCoreData.xcdatamodel", "Data Model.xcdatamodel"]

    /// What compiled models say otherwise than their sources, and why.
    private static let disagreements: [String: String] = [
        "NewEntity.identifier: isIndexed is true here, false there.": "The compiler marks a property that has an index of its own.",
        "Car: compoundIndexes is [[\"maker\", \"numberPlate\"]] here, [] there.":
            "The compiler repeats an index over several properties in the older form.",
        "Car.color: attributeValueClassName is none here, Color there.": "The archive says nothing; the source names the class.",
    ]

    @Test func everyModelReadsAndWhatIsWrittenReadsAsEqual() throws {
        let models = Self.files(ending: ".xcdatamodel")
        var entities = 0
        for url in models {
            let model = try NSManagedObjectModel(reading: url)
            entities += model.entities.count
            let written = try model.xcdatamodelContents()
            let again = try NSManagedObjectModel(modelContents: written)
            if Self.syncing.contains(url.lastPathComponent) {
                #expect(again.differences(from: model).allSatisfy { $0.contains("userInfo[com.apple.syncservices") }, "\(url.path)")
                continue
            }
            #expect(again.differences(from: model).isEmpty, "\(url.path)")
            #expect(again.isEqual(model), "\(url.path)")
            try expect(again.xcdatamodelContents(), equals: written, "\(url.path)")
            let copy = model.copy() as! NSManagedObjectModel
            #expect(copy.differences(from: model).isEmpty, "\(url.path)")
            expect(copy.entityVersionHashesByName, equals: model.entityVersionHashesByName)
            expect(copy.xcdatamodelText, equals: model.xcdatamodelText)
        }
        print("\(models.count) models with \(entities) entities were read, written and read again.")
        #expect(models.count > 150)
    }

    @Test func mostFilesAreWrittenByteForByteAsXcodeWroteThem() throws {
        let files = Self.files(ending: "/contents")
        var same = 0
        for url in files {
            let original = try String(contentsOf: url, encoding: .utf8)
            let model = try NSManagedObjectModel(reading: url)
            if model.xcdatamodelText == original.trimmingCharacters(in: .newlines) { same += 1 }
        }
        #expect(same > files.count * 8 / 10)
        print("\(same) of \(files.count) files are written back byte for byte.")
    }

    @Test func everyModelComesBackFromItsCompiledForm() throws {
        let models = Self.files(ending: ".xcdatamodel")
        for url in models {
            let model = try NSManagedObjectModel(reading: url)
            let again = try NSManagedObjectModel(compiledModel: model.compiledModel())
            #expect(again.differences(from: model, includingFileAttributes: false).isEmpty, "\(url.path)")
        }
        print("\(models.count) models were compiled and read again.")
    }

    @Test func everyModelHasSwiftSource() throws {
        for url in Self.files(ending: ".xcdatamodel") {
            let model = try NSManagedObjectModel(reading: url)
            if Self.syncing.contains(url.lastPathComponent) { continue }
            try expect(model.swiftSource(), equals: model.swiftSource(), "\(url.path)")
        }
    }

    @Test func everyVersionedModelNamesItsVersions() throws {
        for url in Self.files(ending: ".xcdatamodeld") {
            let names = try NSManagedObjectModel.versionNames(at: url)
            for name in names { _ = try NSManagedObjectModel(reading: url, version: name) }
            let mark = url.appendingPathComponent(".xccurrentversion")
            let isMarked = (try? String(contentsOf: mark, encoding: .utf8))?.contains("_XCCurrentVersionName") ?? false
            if names.count == 1 || isMarked {
                _ = try NSManagedObjectModel(reading: url)
            } else {
                let error = failure { _ = try NSManagedObjectModel(reading: url) }
                expect(error?.code, equals: 260)
            }
        }
    }

    @Test func compiledModelsSayWhatTheirSourcesSay() throws {
        let pairs = [
            (
                "SwiftGen+SwiftGen/SwiftGen.playground/Resources/Model.momd",
                "SwiftGen+SwiftGen/Sources/TestUtils/Fixtures/Resources/CoreData/Model.xcdatamodeld"
            ),
            (
                "alemar11+CoreDataPlus/Tests/Resources/SampleModel/Fixtures/SampleModel.momd",
                "alemar11+CoreDataPlus/Tests/Resources/SampleModel/SampleModel.xcdatamodeld"
            ),
            (
                "alemar11+CoreDataPlus/Tests/Resources/SampleModel3/Fixtures/SampleModel3.momd",
                "alemar11+CoreDataPlus/Tests/Resources/SampleModel3/SampleModel3.xcdatamodeld"
            ),
        ]
        for (compiled, source) in pairs {
            let compiled = Self.models.appendingPathComponent(compiled)
            let source = Self.models.appendingPathComponent(source)
            for version in try NSManagedObjectModel.versionNames(at: compiled) {
                let one = try NSManagedObjectModel(reading: compiled, version: version)
                let other = try NSManagedObjectModel(reading: source, version: version)
                let differences = one.differences(from: other, includingFileAttributes: false)
                #expect(differences.filter { Self.disagreements[$0] == nil }.isEmpty, "\(compiled.path) \(version)")
                #expect(try NSManagedObjectModel(modelContents: one.xcdatamodelContents()).isEqual(one))
            }
        }
    }

    @Test func compiledModelsHaveApplesHashesAndChecksums() throws {
        for url in Self.files(ending: ".momd") {
            let list = try PropertyListSerialization.propertyList(
                from: Data(contentsOf: url.appendingPathComponent("VersionInfo.plist")), format: nil)
            let information = try #require(list as? [String: Any])
            let hashes = try #require(information["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]])
            for (version, expected) in hashes {
                let model = try NSManagedObjectModel(reading: url, version: version)
                expect(model.entityVersionHashesByName, equals: expected)
                if let checksums = information["NSManagedObjectModel_VersionChecksums"] as? [String: String] {
                    expect(model.versionChecksum, equals: checksums[version])
                }
                #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: [NSStoreModelVersionHashesKey: expected]))
                // A changed entity has no claim to the hash it had.
                let copy = model.copy() as! NSManagedObjectModel
                for entity in copy.entities { entity.versionHashModifier = "changed" }
                #expect(copy.entityVersionHashesByName.allSatisfy { $0.value != expected[$0.key] })
            }
            try expect(NSManagedObjectModel.checksumsForVersionedModel(at: url).count, equals: hashes.count)
        }
    }
}

extension NSManagedObjectModel {
    /// The XML as text, or the error.
    var xcdatamodelText: String {
        do {
            return String(decoding: try xcdatamodelContents(), as: UTF8.self)
        } catch { return "\(error)" }
    }
}
