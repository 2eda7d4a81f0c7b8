#if Macros
internal import SwiftDiagnostics

/// A diagnostic of the macros, with a message that says what to do.
struct DeclarationDiagnostic: DiagnosticMessage {
    let identifier: String
    let message: String
    var severity = DiagnosticSeverity.error
    var diagnosticID: MessageID { MessageID(domain: "CoreDataMacros", id: identifier) }

    init(_ identifier: String, _ message: String) {
        self.identifier = identifier
        self.message = message
    }

    static func outside(_ attribute: String) -> DeclarationDiagnostic {
        DeclarationDiagnostic("outside", "@\(attribute) belongs on a property of a class that is marked @ManagedObject.")
    }
    static let notAStructure = DeclarationDiagnostic(
        "notAStructure", "@Composite makes a composite attribute of a structure; this is none.")
    static let notAClass = DeclarationDiagnostic(
        "notAClass", "@ManagedObject declares the entity of a class that inherits from NSManagedObject; this is not a class.")
    static func noSuperclass(_ name: String) -> DeclarationDiagnostic {
        DeclarationDiagnostic("noSuperclass", "“\(name)” must inherit from NSManagedObject, or from a class that is marked @ManagedObject.")
    }
    static let generic = DeclarationDiagnostic("generic", "A generic class cannot be the class of an entity: an entity has one class.")
    static let finalAbstract = DeclarationDiagnostic(
        "finalAbstract", "An abstract entity has only the objects of its subentities, and a final class can have no subclasses.")
    static func constant(_ name: String) -> DeclarationDiagnostic {
        DeclarationDiagnostic(
            "constant",
            "“\(name)” cannot be a property of the entity as a constant: make it a var, or mark it @Ignored to keep it out of the model.")
    }
    static func noType(_ name: String) -> DeclarationDiagnostic {
        DeclarationDiagnostic("noType", "“\(name)” needs its type written out: the model is made of it.")
    }
    static func noDefault(_ name: String) -> DeclarationDiagnostic {
        DeclarationDiagnostic(
            "noDefault",
            "“\(name)” is not optional and has no default: give it one, make it optional, or say @Attribute(.required) if it must be set before it is saved."
        )
    }
    static func changingDefault(_ name: String) -> DeclarationDiagnostic {
        DeclarationDiagnostic(
            "changingDefault",
            "The default of “\(name)” would be computed once and shared by all objects, for defaults are part of the model: say @Attribute(.required)"
                + " and set it in awakeFromInsert().")
    }
    static func unsupported(_ type: String, _ advice: String) -> DeclarationDiagnostic {
        DeclarationDiagnostic("unsupported", "\(type) is not a type of an attribute: \(advice)")
    }
    static func computed(_ name: String, _ attribute: String) -> DeclarationDiagnostic {
        DeclarationDiagnostic(
            "computed", "“\(name)” has a getter of its own, so that @\(attribute) has nothing to store: take one of the two away.")
    }
    static func observed(_ name: String) -> DeclarationDiagnostic {
        DeclarationDiagnostic(
            "observed",
            "“\(name)” cannot have willSet and didSet: the object does not store its value. Override didChangeValue(forKey:), or add a computed property."
        )
    }
    static func byHand(_ name: String) -> DeclarationDiagnostic {
        DeclarationDiagnostic(
            "byHand", "@NSManaged says that the accessors of “\(name)” are elsewhere: take it away, @ManagedObject makes them.")
    }
    static func several(_ name: String) -> DeclarationDiagnostic {
        DeclarationDiagnostic("several", "“\(name)” can be marked only once as what it is: take the others away.")
    }
    static func twice(_ name: String) -> DeclarationDiagnostic {
        DeclarationDiagnostic("twice", "There are two properties “\(name)” in the model.")
    }
    static func severalBindings() -> DeclarationDiagnostic {
        DeclarationDiagnostic("severalBindings", "Declare each property of the entity by itself.")
    }
    static func optionalToMany(_ name: String) -> DeclarationDiagnostic {
        DeclarationDiagnostic("optionalToMany", "“\(name)” cannot be nil: a to-many relationship without objects is empty.")
    }
    static func toManyDefault(_ name: String) -> DeclarationDiagnostic {
        DeclarationDiagnostic("toManyDefault", "“\(name)” can have no default but []: a relationship is empty at first.")
    }
    static func toOneDefault(_ name: String) -> DeclarationDiagnostic {
        DeclarationDiagnostic("toOneDefault", "“\(name)” can have no default: a relationship is empty at first.")
    }
    static func attributeOnRelationship(_ name: String) -> DeclarationDiagnostic {
        DeclarationDiagnostic("attributeOnRelationship", "“\(name)” is a relationship by its type: write @Relationship.")
    }
    static func notARelationship(_ name: String, _ type: String) -> DeclarationDiagnostic {
        DeclarationDiagnostic(
            "notARelationship", "“\(name)” is a \(type), to which no relationship leads: write Track?, Set<Track> or [Track].")
    }
    static func unorderedClass(_ name: String) -> DeclarationDiagnostic {
        DeclarationDiagnostic(
            "unorderedClass",
            "“\(name)” must say what it holds: write [Track] for an ordered relationship, Set<Track> for one without order.")
    }
    static func fetchedType(_ name: String) -> DeclarationDiagnostic {
        DeclarationDiagnostic("fetchedType", "“\(name)” is fetched, so that it is an array of managed objects: write [Album].")
    }
    static func deleteRule(_ rule: String) -> DeclarationDiagnostic {
        DeclarationDiagnostic("deleteRule", "There is no delete rule “\(rule)”: a rule is .nullify, .cascade, .deny or .noAction.")
    }
    static func inverse() -> DeclarationDiagnostic {
        DeclarationDiagnostic(
            "inverse",
            "The inverse is a key path of one step that begins with the class at the other end: \\Track.album. Say nil if there is none.")
    }
    static func inverseRoot(_ root: String, _ destination: String) -> DeclarationDiagnostic {
        DeclarationDiagnostic(
            "inverseRoot",
            "The inverse belongs to “\(root)”, and the relationship leads to “\(destination)”: name a property of “\(destination)”.")
    }
    static func reserved(_ name: String) -> DeclarationDiagnostic {
        DeclarationDiagnostic(
            "reserved",
            "Every managed object has a member “\(name)”: choose another name, and say name: \"\(name)\" if the model must keep it.")
    }
    static func contradiction(_ one: String, _ other: String) -> DeclarationDiagnostic {
        DeclarationDiagnostic("contradiction", ".\(one) and .\(other) contradict each other: choose one.")
    }
    static func misplaced(_ option: String, _ types: String) -> DeclarationDiagnostic {
        DeclarationDiagnostic("misplaced", ".\(option) is for \(types).")
    }
    static func unknownProperty(_ name: String, _ known: [String]) -> DeclarationDiagnostic {
        DeclarationDiagnostic("unknownProperty", "There is no property “\(name)”: the class has \(known.joined(separator: ", ")).")
    }
    static func elementDefault(_ name: String) -> DeclarationDiagnostic {
        DeclarationDiagnostic("elementDefault", "“\(name)” must be optional or have a default: the store may hold no value for it.")
    }
    static func initializer() -> DeclarationDiagnostic {
        DeclarationDiagnostic(
            "initializer",
            "Objects that are fetched come to life through init(entity:insertInto:): repeat it as required, beside initializers of your own."
        )
    }
}

/// The message of a fix-it.
struct DeclarationFixIt: FixItMessage {
    let message: String
    var fixItID: MessageID { MessageID(domain: "CoreDataMacros", id: message) }

    init(_ message: String) { self.message = message }
}
#endif
