public import CoreData

/// A colour palette: the single entity of the article.
public class Palette: NSManagedObject {
    /// The identifier of the palette at COLOURlovers, as a string.
    @NSManaged public var id: String
    /// The name; the service calls it the title.
    @NSManaged public var name: String
    /// The name of the author.
    @NSManaged public var username: String

    /// The colours as six hexadecimal digits each.
    @NSManaged public var colors: [String]
    /// The fraction of the width of each colour.
    @NSManaged public var widths: [Double]

    /// The rank among the best palettes, from 1. The article's palette has none; without it, a cache cannot reproduce the service's
    /// order.
    @NSManaged public var rank: Int64
}

extension Palette {
    /// The name of the entity.
    public static let entityName = "Palette"

    /// The order of the service: the best palettes first.
    public static var defaultSortDescriptors: [NSSortDescriptor] { [NSSortDescriptor(key: "rank", ascending: true)] }

    /// Converts the JSON of a palette to values of the entity's properties.
    ///
    /// - Parameter dictionary: The JSON object.
    /// - Returns: The values by property name. Missing values, and those of another type, are omitted.
    static func transform(dictionary: [String: Any]) -> [String: Any] {
        var values: [String: Any] = [:]
        values["id"] = identifier(in: dictionary)
        values["name"] = dictionary["title"] as? String
        values["username"] = dictionary["userName"] as? String
        values["colors"] = dictionary["colors"] as? [String]
        values["widths"] = dictionary["colorWidths"] as? [Double]
        values["rank"] = dictionary["rank"] as? Int
        return values
    }

    /// Converts a palette of the cache to values of the entity's properties.
    ///
    /// - Parameters:
    ///   - palette: The object of the cache; call this on the queue of its context.
    ///   - entity: The entity in the application's model, which has the palette's own properties only.
    static func transform(palette: NSManagedObject, to entity: NSEntityDescription) -> [String: Any] {
        palette.dictionaryWithValues(forKeys: Array(entity.attributesByName.keys)).filter { !($0.value is NSNull) }
    }

    /// Returns the identifier of a palette's JSON.
    static func identifier(in dictionary: [String: Any]) -> String? {
        (dictionary["id"] as? NSNumber)?.stringValue
    }

    /// Sets the attributes of a palette of the cache from a dictionary.
    ///
    /// - Returns: Whether any value has changed.
    func transform(dictionary: [String: Any]) -> Bool {
        func describe() -> [String] { [id, name, username, "\(rank)"] + colors + widths.map { "\($0)" } }
        let before = describe()
        setValuesForKeys(Self.transform(dictionary: dictionary))
        return describe() != before
    }
}
