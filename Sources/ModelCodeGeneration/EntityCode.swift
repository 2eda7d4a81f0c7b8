internal import ObjectGraph

/// Writes the classes and extensions that Xcode generates for an entity, according to its setting “Codegen”.
struct EntityCode {
    /// The setting “Codegen” of an entity.
    enum Kind: String {
        /// “Class Definition”: the class, and an extension with the properties.
        case wholeClass = "class"
        /// “Category/Extension”: the extension only.
        case properties = "category"
    }

    let entity: NSEntityDescription
    let kind: Kind
    let className: String
    /// The name of the file that the model was read from.
    let modelFile: String

    /// Creates the code of an entity; nil for an entity with a handwritten class (“Manual/None”), or without a class.
    init?(_ entity: NSEntityDescription, modelFile: String) {
        guard let kind = entity.modelFileAttributes["codeGenerationType"].flatMap(Kind.init), let className = entity.className else {
            return nil
        }
        self.entity = entity
        self.kind = kind
        self.className = className
        self.modelFile = modelFile
    }

    /// The files of the entity.
    var files: [GeneratedFile] {
        let properties = GeneratedFile(name: "\(className)+CoreDataProperties.swift", contents: propertiesFile)
        guard kind == .wholeClass else { return [properties] }
        return [GeneratedFile(name: "\(className)+CoreDataClass.swift", contents: classFile), properties]
    }

    /// The superclass of the entity's class.
    private var superclass: String {
        var above = entity.superentity
        while let entity = above {
            if let name = entity.className { return name }
            above = entity.superentity
        }
        return "NSManagedObject"
    }

    private var classFile: String {
        let superclass = superclass
        // The compiler would warn about a public import without public uses.
        let imports = superclass == "NSManagedObject" ? "public import CoreData\n\n" : ""
        return """
            \(GeneratedFile.header("\(className)+CoreDataClass.swift", from: modelFile))
            \(imports)public class \(className): \(superclass) {

            }

            """
    }

    private var propertiesFile: String {
        let declared = entity.properties.filter { $0.entity === entity }
        let attributes = declared.filter { $0 is NSAttributeDescription }
        let relationships = declared.compactMap { $0 as? NSRelationshipDescription }
        let others = declared.filter { !($0 is NSAttributeDescription) && !($0 is NSRelationshipDescription) }
        let properties = (attributes + relationships + others).compactMap { PropertyCode($0) }
        // A handwritten class may be internal, and its accessors can then not be inlined into other modules.
        let accessors = properties.map { $0.declaration(isInlinable: kind == .wholeClass) }
        var code = """
            \(GeneratedFile.header("\(className)+CoreDataProperties.swift", from: modelFile))
            public import CoreData

            public typealias \(className)CoreDataPropertiesSet = NSSet

            extension \(className) {

                @nonobjc public class func fetchRequest() -> NSFetchRequest<\(className)> {
                    return NSFetchRequest<\(className)>(entityName: "\(entity.name ?? "")")
                }

            \(accessors.joined(separator: "\n"))
            }

            """
        for relationship in relationships where relationship.isToMany {
            code += "\n" + MembersCode(className: className, relationship: relationship).declaration
        }
        // Subclasses inherit it.
        let id = properties.first { $0.name == "id" }
        if entity.superentity == nil, id?.isHashable ?? true {
            code += """

                extension \(className): Identifiable {

                }

                """
        }
        return code
    }
}
