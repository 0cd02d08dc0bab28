//! What flags set beside the settings file, remembered for runs that name no seed: the file counts as it
//! stands then, and the flags of before stay over it.

use comity_storage::{Store, StoreError};
use serde_json::Value;

use crate::config::Config;

/// Under which name the store keeps them.
const NAME: &str = "flags";

/// Settings, each by its sections and its own name.
pub(super) type Names = Vec<Vec<String>>;

/// The settings that differ from the file's.
pub(super) fn set_by_flags(file: &Config, effective: &Config) -> Names {
    let mut names = Vec::new();
    if let (Ok(file), Ok(effective)) = (serde_json::to_value(file), serde_json::to_value(effective))
    {
        differing(&file, &effective, &mut Vec::new(), &mut names);
    }
    names
}

fn differing(file: &Value, effective: &Value, at: &mut Vec<String>, names: &mut Names) {
    match (file, effective) {
        (Value::Object(file), Value::Object(effective)) => {
            for (name, value) in effective {
                at.push(name.clone());
                differing(file.get(name).unwrap_or(&Value::Null), value, at, names);
                at.pop();
            }
        }
        (file, effective) if file != effective => names.push(at.clone()),
        _ => {}
    }
}

/// The file's settings, but for these, which are the last run's.
pub(super) fn over(file: &Config, last: &Config, names: &Names) -> serde_json::Result<Config> {
    let (mut config, last) = (serde_json::to_value(file)?, serde_json::to_value(last)?);
    for name in names {
        let value = name.iter().try_fold(&last, |value, part| value.get(part));
        let place = name.iter().try_fold(&mut config, |value, part| value.get_mut(part));
        if let (Some(value), Some(place)) = (value, place) {
            place.clone_from(value);
        }
    }
    serde_json::from_value(config)
}

/// Those of the last run; none if it noted none.
pub(super) async fn load(store: &impl Store) -> Result<Names, StoreError> {
    let names = store.meta(NAME).await?;
    Ok(names.and_then(|names| serde_json::from_slice(&names).ok()).unwrap_or_default())
}

/// Notes those of this run.
pub(super) async fn save(store: &impl Store, names: &Names) -> Result<(), StoreError> {
    let text = serde_json::to_vec(names).map_err(|e| StoreError::Request(e.to_string()))?;
    store.put_meta(NAME, text).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_stay_over_a_file_that_changed() {
        let mut file = Config::default();
        file.crawl.depth = Some(3);
        let mut last = file.clone();
        last.crawl.seeds = vec!["https://example.org/".into()];
        last.network.allow = vec!["127.0.0.0/8".into()];
        last.identity.contact = Some("me@example.org".into());
        let names = set_by_flags(&file, &last);
        assert_eq!(names.len(), 3, "{names:?}");
        file.crawl.depth = Some(5);
        file.network.allow = vec!["10.0.0.0/8".into()];
        let mut expect = last.clone();
        expect.crawl.depth = Some(5);
        assert_eq!(over(&file, &last, &names).unwrap(), expect);
        assert_eq!(over(&file, &last, &Names::new()).unwrap(), file);
    }
}
