internal import Foundation
internal import ModelFiles
internal import ObjectGraph
internal import Platform
internal import Predicates
internal import PropertyLists

/// Reads `.xcmappingmodel` files.
///
/// Xcode leaves the expressions of unedited properties to its compiler. They stay open until the models are known
/// (`NSMappingModel.resolved(from:to:)`).
package struct MappingModelFile {
    private let document: MappingModelDocument
    private let file: String?

    /// Reads the mapping model at a place: an `.xcmappingmodel`, or a file.
    static func read(_ url: URL) throws -> NSMappingModel {
        if url.pathExtension == "cdm" {
            throw malformed(
                url.path, nil, "It is a compiled mapping model, whose format Apple does not document.",
                next: "Give the .xcmappingmodel that it was compiled from, which is read at run time and by the plugin ModelCompiler.")
        }
        var isDirectory: ObjCBool = false
        let contents =
            FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) && isDirectory.boolValue
            ? url.appendingPathComponent("xcmapping.xml") : url
        guard FileManager.default.fileExists(atPath: contents.path) else {
            throw CoreDataError.make(
                CocoaError.Code.fileReadNoSuchFile.rawValue, "The mapping model cannot be read.",
                reason: "There is no file \(contents.path).",
                next: "Check the URL.", info: [NSFilePathErrorKey: contents.path])
        }
        return try read(RegularFile.data(contents), file: contents.path)
    }

    /// Reads the XML of a mapping model.
    ///
    /// - Parameter file: The file, for messages.
    static func read(_ data: Data, file: String?) throws -> NSMappingModel {
        do { return try MappingModelFile(document: MappingModelDocument(data), file: file).model() } catch let mistake
            as MappingModelDocument.FormatError
        {
            throw malformed(file, mistake.line, mistake.reason)
        }
    }

    static func malformed(_ file: String?, _ line: Int?, _ reason: String, next: String? = nil) -> NSError {
        var place = file ?? "the data"
        if let line { place += ", line \(line)" }
        var info: [String: Any] = [ModelFileError.remarkKey: [reason, next].compactMap { $0 }.joined(separator: " ")]
        if let file { info[NSFilePathErrorKey] = file }
        if let line { info[ModelFileError.lineKey] = line }
        return CoreDataError.make(
            CocoaError.Code.fileReadCorruptFile.rawValue, "The mapping model cannot be read.", reason: "\(place): \(reason)", next: next,
            info: info)
    }

    private func malformed(_ object: MappingModelDocument.Object, _ reason: String) -> NSError { Self.malformed(file, object.line, reason) }

    // MARK: Reading

    private func model() throws -> NSMappingModel {
        guard let root = document.objects.first(where: { $0.type == "XDDEVMAPPINGMODEL" }) else {
            throw Self.malformed(file, nil, "It has no object of the type XDDEVMAPPINGMODEL.")
        }
        let objects = try objects("entitymappings", of: root, "XDDEVENTITYMAPPING").sorted {
            (Int($0.text("mappingnumber") ?? "") ?? 0) < (Int($1.text("mappingnumber") ?? "") ?? 0)
        }
        let model = NSMappingModel(entityMappings: try objects.map(entityMapping))
        if let source = outline("source", of: root), let destination = outline("destination", of: root) {
            model.outlines = (source, destination)
        }
        return model
    }

    private func outline(_ side: String, of root: MappingModelDocument.Object) -> ModelOutline? {
        root.text("\(side)modeloutline").flatMap { ModelOutline(text: $0) }
            ?? root.data("\(side)modeldata").flatMap { ModelOutline(archive: $0) }
    }

    private func objects(_ name: String, of owner: MappingModelDocument.Object, _ type: String) throws -> [MappingModelDocument.Object] {
        var seen: Set<String> = []
        return try (owner.relationships[name] ?? []).map { id in
            guard let object = document[id] else { throw malformed(owner, "It refers to the object “\(id)”, which is not in the file.") }
            guard object.type == type else { throw malformed(owner, "The object “\(id)” is no \(type), but a \(object.type).") }
            guard seen.insert(id).inserted else { throw malformed(owner, "It refers to the object “\(id)” twice.") }
            return object
        }
    }

    private func entityMapping(_ object: MappingModelDocument.Object) throws -> NSEntityMapping {
        let mapping = NSEntityMapping()
        mapping.sourceEntityName = object.text("sourcename")
        mapping.destinationEntityName = object.text("destinationname")
        guard mapping.sourceEntityName != nil || mapping.destinationEntityName != nil else {
            throw malformed(object, "An entity mapping has neither a source entity nor a destination entity.")
        }
        if let name = object.text("name") {
            mapping.name = name
        } else if let only = mapping.sourceEntityName == nil
            ? mapping.destinationEntityName : mapping.destinationEntityName == nil ? mapping.sourceEntityName : nil
        {
            mapping.name = only
        }
        mapping.mappingType = Self.kind(object, mapping)
        mapping.entityMigrationPolicyClassName = object.text("migrationpolicyclassname")
        mapping.userInfo = try userInfo(of: object)
        mapping.sourceExpression = try sourceExpression(of: object, mapping)
        mapping.attributeMappings = try objects("attributemappings", of: object, "XDDEVATTRIBUTEMAPPING").map {
            try propertyMapping($0, isRelationship: false)
        }
        mapping.relationshipMappings = try objects("relationshipmappings", of: object, "XDDEVRELATIONSHIPMAPPING").map {
            try propertyMapping($0, isRelationship: true)
        }
        return mapping
    }

    private static func kind(_ object: MappingModelDocument.Object, _ mapping: NSEntityMapping) -> NSEntityMappingType {
        if mapping.entityMigrationPolicyClassName != nil || object.text("migrationpolicyclassname") != nil {
            return .customEntityMappingType
        }
        if mapping.sourceEntityName == nil { return .addEntityMappingType }
        return mapping.destinationEntityName == nil ? .removeEntityMappingType : .transformEntityMappingType
    }

    private func sourceExpression(of object: MappingModelDocument.Object, _ mapping: NSEntityMapping) throws -> ValueExpression? {
        if !object.flag("autogenerateexpression"), let data = object.data("sourceexpressiondata") { return try expression(data, object) }
        guard let entity = mapping.sourceEntityName, let predicate = object.text("sourcefilterpredicatestring") else { return nil }
        do { _ = try NSPredicate(parsing: predicate) } catch {
            throw malformed(object, "The predicate of the source objects does not parse: \(error)")
        }
        let request = ExpressionTree.method(
            .variable(MappingVariable.manager), MappingSelector.fetchRequest, [.constant(.string(entity)), .constant(.string(predicate))])
        return ValueExpression(
            tree: .fetch(request, context: .navigation(.variable(MappingVariable.manager), ["sourceContext"]), countOnly: false))
    }

    private func propertyMapping(_ object: MappingModelDocument.Object, isRelationship: Bool) throws -> NSPropertyMapping {
        let property = NSPropertyMapping()
        guard let name = object.text("name") else { throw malformed(object, "The mapping of a property has no name.") }
        property.name = name
        property.userInfo = try userInfo(of: object)
        // An attribute that was not edited has neither.
        if !object.flag("autogenerateexpression"), let data = object.data("valueexpressiondata") {
            property.valueExpression = try expression(data, object)
            return property
        }
        property.automatic = NSPropertyMapping.Automatic(
            path: object.text("sourcekeypath").map(Self.path), mappingName: isRelationship ? object.text("sourcemappingname") : nil)
        return property
    }

    /// Xcode writes the path with or without `$source`.
    private static func path(_ text: String) -> [String] {
        let keys = text.split(separator: ".").map(String.init)
        return keys.first == "$source" ? Array(keys.dropFirst()) : keys
    }

    private func expression(_ data: Data, _ object: MappingModelDocument.Object) throws -> ValueExpression {
        do { return try PredicateArchive.expression(from: data) } catch {
            throw malformed(object, "Its expression cannot be read: \((error as? InvalidPredicateError)?.message ?? "\(error)")")
        }
    }

    private func userInfo(of object: MappingModelDocument.Object) throws -> [AnyHashable: Any]? {
        guard let data = object.data("userinfodata") else { return nil }
        guard let archive = try? KeyedArchive(data), let info = archive.value(of: archive.rootIndex) as? [AnyHashable: Any] else {
            throw malformed(object, "Its user info cannot be read.")
        }
        return info
    }
}
