package import Foundation
internal import Platform
internal import PropertyLists

extension MappingModelFile {
    /// Returns the XML of a mapping model without Xcode's copies of the two models, which are a hundred times as large: the names of their entities and properties
    /// take their place.
    ///
    /// - Throws: The error of a file that cannot be read.
    package static func compiled(_ url: URL) throws -> String {
        // First, for its errors.
        let model = try read(url)
        let contents = url.appendingPathComponent("xcmapping.xml")
        let document: MappingModelDocument
        do {
            document = try MappingModelDocument(RegularFile.data(FileManager.default.fileExists(atPath: contents.path) ? contents : url))
        } catch let mistake
            as MappingModelDocument.FormatError
        { throw malformed(url.path, mistake.line, mistake.reason) }
        var database = XMLElement(name: "database")
        for object in document.objects {
            var attributes = object.attributes
            if object.type == "XDDEVMAPPINGMODEL" {
                for side in ["source", "destination"] { attributes["\(side)modeldata"] = nil }
                if let outlines = model.outlines {
                    attributes["sourcemodeloutline"] = outlines.source.text
                    attributes["destinationmodeloutline"] = outlines.destination.text
                }
            }
            var element = XMLElement(
                name: "object", attributes: [.init(name: "type", value: object.type), .init(name: "id", value: object.id)])
            element.children = attributes.sorted { $0.key < $1.key }.map { name, value in
                XMLElement(
                    name: "attribute", attributes: [.init(name: "name", value: name)],
                    text: value.replacingOccurrences(of: "\\", with: "\\\\"))
            }
            element.children += object.relationships.sorted { $0.key < $1.key }.map { name, ids in
                XMLElement(
                    name: "relationship",
                    attributes: [.init(name: "name", value: name), .init(name: "idrefs", value: ids.joined(separator: " "))])
            }
            database.children.append(element)
        }
        return database.document
    }
}
