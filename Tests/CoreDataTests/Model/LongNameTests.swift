import CoreData
import Foundation
import TestSupport
import Testing

/// Names in model files that are longer than any that a person gives.
@Suite struct LongNameTests {
    @Test("A name of megabytes is an error that shows its beginning", arguments: ["entity", "property", "class"])
    func longNames(kind: String) throws {
        let scratch = try ScratchFolder("names")
        defer { scratch.remove() }
        let folder = scratch.file("Long.xcdatamodel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let long = String(repeating: "a", count: 12_000_000)
        let xml = """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" userDefinedModelVersionIdentifier="">
                <entity name="\(kind == "entity" ? long : "A")" representedClassName="\(kind == "class" ? long : "A")" syncable="YES">
                    <attribute name="\(kind == "property" ? long : "b")" optional="YES" attributeType="String"/>
                </entity>
            </model>
            """
        try Data(xml.utf8).write(to: folder.appendingPathComponent("contents"))
        let error = try #require(throws: (any Error).self) { try NSManagedObjectModel(reading: folder) }
        #expect("\(error)".contains("has 12000000 bytes, and may have 10000") && "\(error)".utf8.count < 5000)
    }
}
