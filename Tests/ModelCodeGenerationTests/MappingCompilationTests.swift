import CoreData
import Foundation
import ModelCodeGeneration
import TestSupport
import Testing

/// What the plugin makes of mapping models.
struct MappingCompilationTests {
    private static let text = """
        <database>
            <object type="XDDEVMAPPINGMODEL" id="z1">
                <attribute name="sourcemodeldata" type="binary">AAAA</attribute>
                <relationship name="entitymappings" idrefs="z2"/>
            </object>
            <object type="XDDEVENTITYMAPPING" id="z2">
                <attribute name="sourcename" type="string">Song</attribute>
                <attribute name="destinationname" type="string">Song</attribute>
                <attribute name="sourcefilterpredicatestring" type="string">title != "a\\\\\\\\b" AND year \\u3c00 2</attribute>
                <relationship name="attributemappings" idrefs="z3"/>
            </object>
            <object type="XDDEVATTRIBUTEMAPPING" id="z3"><attribute name="name" type="string">title</attribute></object>
        </database>
        """

    private func mapping(_ text: String, in folder: URL) throws -> URL {
        let url = folder.appendingPathComponent("Songs 1-2.xcmappingmodel")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try text.write(to: url.appendingPathComponent("xcmapping.xml"), atomically: true, encoding: .utf8)
        return url
    }

    @Test("A compiled mapping model is read as its source is, without the copies of the models, and is a class of the program")
    func compilation() throws {
        let models = try ModelFolder()
        defer { withExtendedLifetime(models) {} }
        let source = try mapping(Self.text, in: models.url)
        let compilation = try MappingCompilation(source)
        let folder = models.url.appendingPathComponent("output")
        try compilation.write(to: folder)
        let resource = folder.appendingPathComponent("Songs 1-2.xcmappingmodel")
        try expect(NSMappingModel(reading: resource), equals: NSMappingModel(reading: source))
        #expect(!compilation.contents.contains("AAAA"))
        let code = try String(contentsOf: folder.appendingPathComponent("Songs 1-2+MappingModel.swift"), encoding: .utf8)
        #expect(code.contains("public final class EmbeddedMappingModel_Songs_32_1_45_2: EmbeddedMappingModel {"))
        #expect(code.contains("\"Songs 1-2\""))
    }

    @Test("A mapping model that cannot be read is an error with its file and what is wrong")
    func mistake() throws {
        let models = try ModelFolder()
        defer { withExtendedLifetime(models) {} }
        let source = try mapping(Self.text.replacingOccurrences(of: "idrefs=\"z3\"", with: "idrefs=\"z9\""), in: models.url)
        #expect { try MappingCompilation(source) } throws: { error in
            "\(error)".contains("xcmapping.xml:") && "\(error)".contains("error: ") && "\(error)".contains("“z9”")
        }
    }
}
