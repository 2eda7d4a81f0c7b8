import CoreData
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph

/// Comparing, checking and merging models, and their hashes.
struct ModelComparisonTests {
    private func model(_ change: (NSAttributeDescription, NSRelationshipDescription) -> Void = { _, _ in }) -> NSManagedObjectModel {
        let title = NSAttributeDescription(name: "title", type: .string)
        let album = NSEntityDescription(name: "Album", properties: [title])
        let track = NSEntityDescription(name: "Track")
        let tracks = NSRelationshipDescription(name: "tracks", destination: track, toMany: true)
        let back = NSRelationshipDescription(name: "album", destination: album)
        tracks.inverse(to: back)
        album.properties += [tracks]
        track.properties = [back]
        change(title, tracks)
        return NSManagedObjectModel(entities: [album, track])
    }

    @Test func whatDiffersIsSaidWithItsPlace() {
        #expect(model().differences(from: model()).isEmpty)
        let other = model { title, tracks in
            title.isOptional = false
            tracks.isOrdered = true
        }
        expect(
            model().differences(from: other),
            equals: [
                "Album.title: isOptional is true here, false there.", "Album.tracks: isOrdered is false here, true there.",
            ])
        #expect(model() == model() && model() != other)
        expect(model().hash, equals: model().hash)
        let larger = model()
        larger.entities.append(NSEntityDescription(name: "Band", properties: [NSAttributeDescription(name: "name", type: .string)]))
        expect(model().differences(from: larger), equals: ["Band is only there."])
        expect(larger.differences(from: model()), equals: ["Band is only here."])
    }

    @Test func whatFilesAloneSayCountsWhereItIsAskedFor() {
        let marked = model { title, _ in title.modelFileAttributes = ["usesScalarValueType": "YES"] }
        #expect(marked.isEqual(model()))
        expect(marked.differences(from: model()).count, equals: 1)
        #expect(marked.differences(from: model(), includingFileAttributes: false).isEmpty)
    }

    @Test func hashesChangeWithWhatAStoreMustKnowAndWithNothingElse() {
        let hashes = model().entityVersionHashesByName
        expect(model { title, _ in title.defaultValue = "x" }.entityVersionHashesByName, equals: hashes)
        #expect(model { title, _ in title.isOptional = false }.entityVersionHashesByName["Album"] != hashes["Album"])
        expect(model { title, _ in title.isOptional = false }.entityVersionHashesByName["Track"], equals: hashes["Track"])
        #expect(model { title, _ in title.versionHashModifier = "2" }.entityVersionHashesByName["Album"] != hashes["Album"])
        #expect(model { _, tracks in tracks.isOrdered = true }.entityVersionHashesByName["Album"] != hashes["Album"])
        // The same on every machine and in every run.
        expect(hashes["Album"]?.base64EncodedString(), equals: "dmEuWrdRLfDvnoa62PgtFC6L7hZoT97aHbDne2ex3Ak=")
        let reordered = model()
        reordered.entities.reverse()
        expect(reordered.versionChecksum, equals: model().versionChecksum)
    }

    @Test func aHashChangesWithWhatIsInherited() {
        func hash(_ type: NSAttributeDescription.AttributeType) -> Data {
            let base = NSEntityDescription(name: "Base", properties: [NSAttributeDescription(name: "x", type: type)])
            let sub = NSEntityDescription(name: "Sub")
            base.subentities = [sub]
            return NSManagedObjectModel(entities: [base, sub]).entityVersionHashesByName["Sub"]!
        }
        #expect(hash(.string) != hash(.date))
    }

    @Test func theHashFunctionsAnswerAsTheStandardSays() {
        func hex(_ data: Data) -> String { data.map { String(format: "%02x", $0) }.joined() }
        expect(hex(SHA2.sha256(Data())), equals: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        expect(hex(SHA2.sha256(Data("abc".utf8))), equals: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        expect(
            hex(SHA2.sha512(Data("abc".utf8))),
            equals:
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        )
        let long = Data(String(repeating: "a", count: 1000).utf8)
        expect(hex(SHA2.sha256(long)), equals: "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3")
    }

    @Test func modelsAreMergedAndRelationshipsFindTheirEnds() throws {
        let head = "<model type=\"com.apple.IDECoreDataModeler.DataModel\" documentVersion=\"1.0\">"
        let albums = try NSManagedObjectModel(
            modelContents: Data(
                """
                \(head)<entity name="Work" isAbstract="YES"/><entity name="Album" parentEntity="Work"><relationship name="tracks" optional="YES" toMany="YES" destinationEntity="Track" inverseName="album"/></entity></model>
                """.utf8))
        let tracks = try NSManagedObjectModel(
            modelContents: Data(
                """
                \(head)<entity name="Work" isAbstract="YES"/><entity name="Track" parentEntity="Work"><relationship name="album" maxCount="1" destinationEntity="Album" inverseName="tracks"/></entity></model>
                """.utf8))
        #expect(albums.check(namesOfClasses: false).contains { $0.severity == .error })
        #expect(throws: NSError.self) { try albums.freeze() }
        let merged = try #require(NSManagedObjectModel(byMerging: [albums, tracks]))
        expect(merged.entities.map(\.name), equals: ["Work", "Album", "Track"])
        let relationship = try #require(merged.entitiesByName["Album"]?.relationshipsByName["tracks"])
        #expect(relationship.destinationEntity === merged.entitiesByName["Track"])
        #expect(relationship.inverseRelationship === merged.entitiesByName["Track"]?.relationshipsByName["album"])
        #expect(merged.entitiesByName["Track"]?.superentity === merged.entitiesByName["Work"])
        expect(merged.entitiesByName["Work"]?.subentities.count, equals: 2)
        #expect(merged.entitiesByName["Track"]?.managedObjectModel === merged)
        try merged.freeze()
        #expect(albums.entities.count == 2 && albums.entitiesByName["Album"]?.relationshipsByName["tracks"]?.destinationEntity == nil)
    }

    @Test func modelsThatDisagreeAreNotMerged() {
        let other = model { title, _ in title.isOptional = false }
        #expect(NSManagedObjectModel(byMerging: [model(), other]) == nil)
        let error = failure { _ = try NSManagedObjectModel(merging: [model(), other]) }
        expect(error?.code, equals: NSPersistentStoreIncompatibleSchemaError)
        expect(error?.localizedDescription.contains("two different entities called “Album”"), equals: true)
        expect(NSManagedObjectModel(byMerging: [model(), model()])?.isEqual(model()), equals: true)
    }

    @Test func modelsAreChosenByTheHashesOfAStore() {
        let old = model()
        let new = model { title, _ in title.isOptional = false }
        let metadata: [String: Any] = [NSStoreModelVersionHashesKey: old.entityVersionHashesByName]
        expect(NSManagedObjectModel(byMerging: [new, old], forStoreMetadata: metadata)?.isEqual(old), equals: true)
        #expect(NSManagedObjectModel(byMerging: [new], forStoreMetadata: metadata) == nil)
        #expect(old.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(!new.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(!old.isConfiguration(withName: "none", compatibleWithStoreMetadata: metadata))
    }

    @Test func aCheckSaysWhereWhatAndWhatToDo() {
        let album = NSEntityDescription(
            name: "Album",
            properties: [
                NSAttributeDescription(name: "hash", type: .string), NSAttributeDescription(name: "mood", type: .transformable),
                NSDerivedAttributeDescription(name: "count", type: .integer64),
            ])
        let alone = NSRelationshipDescription(name: "alone", destination: album)
        let counted = NSRelationshipDescription(name: "counted", destination: album, toMany: true)
        counted.minCount = 2
        counted.inverse(to: counted)
        album.properties += [alone, counted]
        album.managedObjectClassName = "Nowhere.Album"
        album.uniquenessConstraints = [["titel"]]
        let findings = NSManagedObjectModel(entities: [album]).check()
        let lines = findings.map(\.description)
        for expected in [
            "warning: Album: There is no class “Nowhere.Album” in the program", "warning: Album.alone: It has no inverse",
            "warning: Album.hash: The name is that of a member of every managed object.",
            "warning: Album.mood: It names no value transformer",
            "warning: Album.count: It is derived and has no expression.",
            "warning: Album.counted: It is optional and has a minimum count of 2.",
            "warning: Album: A uniqueness constraint names “titel”",
        ] {
            #expect(lines.contains { $0.hasPrefix(expected) }, "\(expected)")
        }
        #expect(findings.allSatisfy { !$0.advice.isEmpty })
        #expect(model().check().isEmpty)
    }

    @Test func aModelThatInheritsInACircleIsCheckedWithoutEnd() {
        let one = NSEntityDescription(name: "One")
        let two = NSEntityDescription(name: "Two")
        one.subentities = [two]
        two.subentities = [one]
        let findings = NSManagedObjectModel(entities: [one, two]).check()
        #expect(findings.count == 2 && findings.allSatisfy { $0.severity == .error })
        one.subentities = []
    }

    @Test func userInfosThatHoldDictionariesAreComparedWhateverTheirOrder() {
        func model(_ keys: [String]) -> NSManagedObjectModel {
            let album = NSEntityDescription(name: "Album")
            var inner: [AnyHashable: Any] = [:]
            for key in keys { inner[key] = [key: Set(keys)] }
            album.userInfo = ["policy": inner]
            return NSManagedObjectModel(entities: [album])
        }
        let keys = (0..<40).map { "key \($0)" }
        #expect(model(keys).differences(from: model(keys.reversed())).isEmpty)
        #expect(!model(keys).differences(from: model(Array(keys.dropLast()))).isEmpty)
    }
}
