public import CoreData

/// A colour palette: the single entity of the article.
public class Palette: NSManagedObject {
    /// The number under which COLOURlovers knows the palette, as text.
    @NSManaged public var id: String
    /// Its name; the service calls it the title.
    @NSManaged public var name: String
    /// Who made it.
    @NSManaged public var username: String

    /// The colours as six hexadecimal digits each.
    @NSManaged public var colors: [String]
    /// The share of the whole width that each colour takes.
    @NSManaged public var widths: [Double]

    /// Its place among the best, 1 being the best. The article's palette has none; without it a cache cannot give the service's order.
    @NSManaged public var rank: Int64
}

extension Palette {
    /// The name of the entity.
    public static let entityName = "Palette"

    /// The order in which the service gives palettes: the best first.
    public static var defaultSortDescriptors: [NSSortDescriptor] { [NSSortDescriptor(key: "rank", ascending: true)] }

    /// A palette as the JSON of the service or of a file has it, as values of the entity's properties.
    ///
    /// - Parameter dictionary: the JSON object.
    /// - Returns: values by the names of properties. What the JSON does not have, or has in another form, is left out.
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

    /// A palette of the cache, as values of the entity's properties.
    ///
    /// - Parameters:
    ///   - palette: the object of the cache; call this on the queue of its context.
    ///   - entity: the entity in the application's model, which has no more than the palette's own properties.
    static func transform(palette: NSManagedObject, to entity: NSEntityDescription) -> [String: Any] {
        palette.dictionaryWithValues(forKeys: Array(entity.attributesByName.keys)).filter { !($0.value is NSNull) }
    }

    /// The identifier of the palette that a dictionary describes.
    static func identifier(in dictionary: [String: Any]) -> String? {
        (dictionary["id"] as? NSNumber)?.stringValue
    }

    /// Sets the attributes of a palette of the cache from a dictionary.
    ///
    /// - Returns: whether anything was different before.
    func transform(dictionary: [String: Any]) -> Bool {
        func describe() -> [String] { [id, name, username, "\(rank)"] + colors + widths.map { "\($0)" } }
        let before = describe()
        setValuesForKeys(Self.transform(dictionary: dictionary))
        return describe() != before
    }
}
